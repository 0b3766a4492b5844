// If the thread that makes batches fails, the run ends: on that rank with the cause and its step, on the
// others with that rank's name.
#include <gmock/gmock.h>

#include "comm/ranks.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"
#include "sampler/batch_stream.h"
#include "train/session.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBatchSize = 5, kStepsAnEpoch = 4;  // of 18 training vertices
constexpr std::int64_t kFailingStep = 6;                   // from 0: the third of epoch 2

/// Rank 1 of two, or the only one, can't read its arcs any more.
class TornStructure final : public Structure {
 public:
  TornStructure(std::unique_ptr<Structure> whole, bool tears) : whole_(std::move(whole)), tears_(tears) {}
  bool weighted() const override { return whole_->weighted(); }
  void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) override {
    if (tears_ && draws_++ == kFailingStep) fail("columns.npy: cannot be read");
    whole_->draw(hop, rows, out);
  }
  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees) override {
    whole_->describe(hop, rows, ids, degrees);
  }
  Index reallocations() const override { return whole_->reallocations(); }

 private:
  std::unique_ptr<Structure> whole_;
  bool tears_;
  std::int64_t draws_ = 0;  // one a step
};

/// Takes batches as MiniBatch does, and learns nothing from them.
class TakingBatches final : public Schedule {
 public:
  explicit TakingBatches(const ScheduleInput& in)
      : layers_(int(in.model.layers.size())),
        graph_(in.holding.batches()),
        structure_(partitioned_structure(graph_.training, graph_.owners, in.comm, pool_),
                   in.comm.rank() == in.comm.size() - 1),
        sampler_(structure_, {.fanout = {2}}),
        features_(sampling_, graph_.owners, in.comm, graph_.features),
        seeds_(graph_.training_by_part, graph_.training_rows, kBatchSize, 1),
        stream_({batch_maker(seeds_, sampler_, {&features_})},
                {.end = in.job.training.epochs * seeds_.steps(), .comm = &in.comm}),
        logits_(graph_.features.rows(), 3) {}

  std::int64_t steps() const override { return seeds_.steps(); }
  void train(std::int64_t, TrainingStep& session) override {
    stream_.next();
    for (int layer = layers_ - 1; layer >= 0; --layer) session.layer_done(layer);
    session.update();
  }
  ConstMatrixView infer() override { return logits_; }
  ConstMatrixView embeddings() const override { return {}; }
  void count_non_finite(const double*, double*) override {}
  ScheduleBytes bytes() const override { return {}; }

 private:
  int layers_;
  const BatchGraph& graph_;
  ThreadPool pool_{1};
  Workspace workspace_;
  Context sampling_{Device::kCpu, &pool_, &workspace_};
  TornStructure structure_;
  Sampler sampler_;
  FeatureStore features_;
  Seeds seeds_;
  BatchStream stream_;
  Matrix logits_;
};

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  return std::make_unique<TakingBatches>(in);
}

/// Before any test reads a job.
class AddTaking final : public testing::Environment {
  void SetUp() override {
    add_strategy(StrategyInfo{.kind = "taking",
                              .description = "takes batches",
                              .layout = consecutive_ranks,
                              .traffic = boundary_traffic,
                              .flows = boundary_flows,
                              .several_steps = true,
                              .draws_neighbours = [](const Job&) { return true; }});
    add_strategy(Strategy{.kind = "taking", .make = make, .holds = Holds::kBatches});
  }
};
const testing::Environment* const kAdded = testing::AddGlobalTestEnvironment(new AddTaking);

/// Keeps how far training came.
class StepsSeen final : public RunObserver {
 public:
  void on_step(const StepRecord& s) override { steps = (s.epoch - 1) * kStepsAnEpoch + s.step; }
  void on_epoch(const EpochRecord& e) override { steps = e.epoch * kStepsAnEpoch; }
  Index steps = 0;
};

struct Ended {
  std::vector<std::string> failures;  // by rank
  std::vector<Index> steps;
};

Ended train(int ranks) {
  EXPECT_NE(kAdded, nullptr);
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  std::filesystem::create_directories(folder / "output");
  const Job job =
      small_job({"strategy.kind=taking", "training.epochs=50", fmt::format("placement.ranks={}", ranks)});
  const Dataset dataset = Dataset::open(folder / "small");
  PreparedGraph::make(dataset, partition_options(job, ranks), graph_transforms(job),
                      training_marks(dataset, job));
  Ended ended{{}, std::vector<Index>(std::size_t(ranks))};
  std::vector<std::string> hosts{"a", "b"};
  hosts.resize(std::size_t(ranks));
  ended.failures =
      failures_of_ranks(make_local_group(ranks, hosts), {std::chrono::seconds(20)}, [&](Communicator& comm) {
        StepsSeen seen;
        SessionOptions o;
        o.job = job;
        o.job_yaml = "small";
        o.dataset = folder / "small";
        o.output = comm.rank() == 0 ? folder / "output" : folder / "not on this machine";
        o.threads = 1;
        o.observer = &seen;
        try {
          run_session(comm, o);
        } catch (...) {
          ended.steps[std::size_t(comm.rank())] = seen.steps;
          throw;
        }
      });
  return ended;
}

constexpr const char* kCause = "epoch 2, step 3: its batch can't be made: columns.npy: cannot be read";

TEST(FailingSampler, EndsTheRunAtItsStep) {
  const Ended ended = train(1);
  EXPECT_EQ(ended.failures[0], kCause);
  EXPECT_EQ(ended.steps[0], kFailingStep) << "what was made before is trained on";
}

TEST(FailingSampler, EndsTheOtherRanksToo) {
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = train(2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(ended.failures[1], kCause);
  EXPECT_EQ(ended.steps[1], kFailingStep);
  EXPECT_THAT(ended.failures[0], HasSubstr("rank 1 on b has left the job"));
}

}  // namespace
}  // namespace atl
