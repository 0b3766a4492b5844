// A strategy that the program doesn't know: this file alone is enough to name, lay out, train, plan and
// resume it.
#include <gmock/gmock.h>

#include <optional>

#include "job/field.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"
#include "plan/job_plan.h"
#include "strategies/schedule/rows.h"
#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

/// Exact, and counts the epochs that it has trained, which is all that a resumed run must put back.
class Counting final : public Exchange {
 public:
  explicit Counting(std::unique_ptr<Exchange> exact) : exact_(std::move(exact)) {
    count_.view().at(0, 0) = 0;
  }
  std::vector<Index> source_rows(int layer) const override { return exact_->source_rows(layer); }
  Index bytes() const override { return exact_->bytes() + count_.held_bytes(); }
  void begin(std::int64_t epoch, bool training) override {
    if (training) count_.view().at(0, 0) += 1;
    exact_->begin(epoch, training);
  }
  Gather& gather(const GatherRequest& what) override { return exact_->gather(what); }
  Gather& gather_back(const GatherRequest& what, MatrixView d_rows) override {
    return exact_->gather_back(what, d_rows);
  }
  std::vector<NamedMatrix> state() override { return {{"epochs", count_.view()}}; }

 private:
  std::unique_ptr<Exchange> exact_;
  Matrix count_{1, 1};
};

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return std::make_unique<Counting>(
        make_exact_exchange(in.ctx, in.comm, in.holding.part(), std::move(layers), false));
  });
}

/// As many neighbours on a server as the manifest's block says.
Layout together(const Job& job) {
  const auto size = Rank(job.strategy.options.integer("together"));
  Layout layout;
  for (Rank rank = 0; rank < job.placement.ranks; ++rank) {
    if (rank % size == 0) layout.groups.emplace_back();
    layout.groups.back().push_back(rank);
  }
  return layout;
}

void whole_groups(const Check& c) {
  if (c.job.placement.ranks % c.job.strategy.options.integer("together") != 0)
    c.error("strategy.toy.together", "does not divide placement.ranks (use a number that does)");
}

std::optional<Job> made_before;  // the table had the toy

/// Before any test reads a job.
class AddToy final : public testing::Environment {
  void SetUp() override {
    made_before.emplace();
    add_strategy(
        StrategyInfo{.kind = "toy",
                     .description = "a toy",
                     .options = {option_field(OptionOwner::kStrategy, "toy", "strategy.toy.together",
                                              std::int64_t{2}, {.description = "ranks on a server"})},
                     .layout = together,
                     .traffic = boundary_traffic,
                     .flows = boundary_flows,
                     .rules = {{whole_groups}}});
    add_strategy(Strategy{.kind = "toy", .make = make, .sends_products = [](const Job&) { return true; }});
  }
};
const testing::Environment* const kAdded = testing::AddGlobalTestEnvironment(new AddToy);

class Toy : public KilledRuns {
 protected:
  Toy() {
    EXPECT_NE(kAdded, nullptr);
    job_ = job_of("toy");
  }
  static Job job_of(const std::string& kind) {
    return small_job({"strategy.kind=" + kind, "training.epochs=9", "training.checkpoint={every: 2}",
                      "placement.ranks=2", "training.dropout=0.4"});
  }
};

TEST_F(Toy, IsReadFromAManifestAndLaidOut) {
  const Job four = small_job({"strategy.kind=toy", "strategy.toy.together=2", "placement.ranks=4"});
  EXPECT_EQ(four.strategy.row->layout(four).groups, (std::vector<std::vector<Rank>>{{0, 1}, {2, 3}}));
  EXPECT_THAT(
      [] {
        small_job({"strategy.kind=toy", "placement.ranks=3"});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("strategy.toy.together: does not divide")));
}

TEST_F(Toy, MovesNoRowThatAJobHolds) {
  ASSERT_TRUE(made_before);
  EXPECT_EQ(made_before->strategy.row, job_of("graph").strategy.row);
  EXPECT_EQ(made_before->strategy.row->kind, "graph");
}

/// Three ranks are no whole groups of the toy, whose option another's job doesn't have.
TEST_F(Toy, HasNoSayInAnothersJob) {
  EXPECT_EQ(small_job({"strategy.kind=graph", "placement.ranks=3"}).placement.ranks, 3);
}

TEST_F(Toy, TrainsAndResumes) {
  const RunRecord never = run("never", 2);
  ASSERT_EQ(never.epochs.size(), 9u);
  run("killed", 2, 5);
  const RunRecord resumed = run("killed", 2);
  EXPECT_EQ(resumed.resumed_from, 4);
  for (const EpochRecord& e : resumed.epochs) EXPECT_EQ(e.loss, never.epochs[std::size_t(e.epoch - 1)].loss);
  EXPECT_EQ(read_bytes(folder_ / "killed/model.safetensors"),
            read_bytes(folder_ / "never/model.safetensors"));
  const auto counted = SafetensorsFile::read(folder_ / "killed/checkpoints/epoch-000009/part-1.safetensors");
  Real epochs = 0;
  counted.copy_to("epochs", {1, 1}, &epochs);
  EXPECT_EQ(epochs, 9);
  job_ = job_of("graph");
  EXPECT_EQ(run("graph", 2).epochs.back().loss, never.epochs.back().loss);
}

TEST_F(Toy, IsPlanned) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  const auto plan_of = [&](const Job& job) {
    return plan_job(job, dataset,
                    PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                        training_marks(dataset, job)),
                    {1, {1e9, 1e9, 1e9}, 1e9});
  };
  const JobPlan toy = plan_of(job_), graph = plan_of(job_of("graph"));
  EXPECT_EQ(toy.epoch, graph.epoch);
  EXPECT_GT(toy.ranks[0].memory.peak(), 0);
}

}  // namespace
}  // namespace atl
