// What is planned of strategy `p3`, whose epochs have no more steps than the plan draws, is what a run sends, and what the paper's formula
// says; and where features by columns send less than by rows.
#include <gmock/gmock.h>

#include "plan/job_plan.h"
#include "sampler/batch_sampling.h"
#include "train/p3_job.h"

namespace atl {
namespace {

const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

PreparedGraph prepared_for(const Job& job, const Dataset& dataset) {
  return PreparedGraph::make(dataset, partition_options(job, job.placement.ranks), graph_transforms(job),
                             training_marks(dataset, job));
}

struct Sent {
  std::vector<TrafficBytes> by_rank;
  Index whole_rows = 0, input_rows = 0;  // of all batches of an epoch, counted by drawing them once more
};

Sent run_an_epoch(const Job& job, const std::filesystem::path& data, int hops) {
  Sent sent{std::vector<TrafficBytes>(std::size_t(job.placement.ranks))};
  std::mutex lock;
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      // As EpochLoop does; the last one's bytes are told in it.
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      sent.by_rank[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    BatchSamplingOptions options{.sampling = {.fanout = {}, .seed = job.training.seed}, .batch_size = 7};
    for (const std::int64_t each : job.strategy.options.integers("fanout"))
      options.sampling.fanout.push_back(int(each));
    BatchSampling drawn(rank.data.held_in_training().batches(), comm, options);
    StreamedBatch made;
    const MakeBatch make = drawn.maker(nullptr);
    for (std::int64_t step = 0; step < rank.trainer->steps(); ++step) {
      make(step, made);
      const std::lock_guard guard(lock);
      sent.whole_rows += made.batch.input_rows(hops);
      sent.input_rows += made.batch.input_rows(0);
    }
  });
  return sent;
}

class PlannedColumns : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  TemporaryFolder folder_;
};

void expect_sent(const JobPlan& plan, const Sent& sent) {
  for (const RankPlan& rank : plan.ranks)
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      EXPECT_EQ(rank.epoch[p], sent.by_rank[std::size_t(rank.shape.rank)][p])
          << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
}

/// 2 (P / c − 1) Σ |V₁| h bytes of a value each, and no features; attention adds scores.
TEST_P(PlannedColumns, SendWhatARunSendsAndThePaperSays) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  for (const auto& [ranks, options] : {std::pair{4, "columns: rank"}, std::pair{4, "copies: 2"},
                                       std::pair{3, "structure: mapped"}, std::pair{2, "copies: 2"}}) {
    SCOPED_TRACE(fmt::format("{} ranks, {}", ranks, options));
    const Job job = batches_of("p3", GetParam(), ranks, options, {"training.epochs=1"});
    const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
    ASSERT_TRUE(plan.columns.has_value());
    const bool gathers = plan.columns->after_gather;
    const int hops = !gathers ? 0 : job.model.kind == "sgc" && GetParam().name != "sgc_drops_first" ? 3 : 1;
    const int real_hops = job.model.kind == "sgc" ? std::min(hops, gathering_layers(job.model)) : hops;
    const Sent sent = run_an_epoch(job, folder_ / "small", real_hops);
    expect_sent(plan, sent);
    EXPECT_EQ(Index(plan.columns->rows), sent.whole_rows);
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kFeatures)], 0);
    const Index pieces = plan.columns->pieces;
    const Index value = job.strategy.wire == Precision::kBFloat16 ? 2 : Index(sizeof(Real));
    const Index formula = 2 * (pieces - 1) * sent.whole_rows * plan.columns->width * value;
    const std::int64_t summed =
        plan.epoch[std::size_t(Traffic::kPartial)] + plan.epoch[std::size_t(Traffic::kPartialGradient)];
    const bool has_scores = job.model.kind == "gat" && pieces > 1;
    EXPECT_EQ(summed > formula, has_scores);
    EXPECT_GE(summed, formula);
  }
}

TEST_P(PlannedColumns, AreTheRunsWithoutAPreparedGraph) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  const Job job = batches_of("p3", GetParam(), 3, "delay: 3");
  const JobPlan plan = plan_job(job, dataset, kOptions),
                prepared = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(plan.ranks[rank].epoch, prepared.ranks[rank].epoch);
    EXPECT_EQ(plan.ranks[rank].memory.peak(), prepared.ranks[rank].memory.peak());
    EXPECT_EQ(plan.ranks[rank].work.product_flops, prepared.ranks[rank].work.product_flops);
  }
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model_by_columns();
  for (const SmallCase& each : first_layers()) all.push_back(each);
  all.push_back({"half", {"strategy.wire=bfloat16"}, {.features = 11}});
  all.push_back({"batch_norm", {"model.norm=batch"}, {.features = 11}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, PlannedColumns, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

class Crossing : public testing::Test {
 protected:
  void SetUp() override {
    write_small_data(folder_ / "small", {.vertices = 600, .features = 96, .arc_share = 0.03});
  }
  JobPlan plan_of(int hidden, const std::string& options = "columns: rank") {
    const SmallCase c{"sage", {"model.kind=sage", "model.layers=2", fmt::format("model.hidden={}", hidden)}};
    const Dataset dataset = Dataset::open(folder_ / "small");
    const Job job = batches_of("p3", c, 4, options, {"placement.partitioner.kind=hash"});
    return plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  }
  TemporaryFolder folder_;
};

/// Below it columns win, above rows do; without what batches' arcs take it is F · |V₀| / (2 P |V₁|).
TEST_F(Crossing, IsWhereBothSendTheSame) {
  const double crossing = plan_of(16).columns->crossing();
  ASSERT_GT(crossing, 20);
  const ColumnsPlan below = *plan_of(int(crossing * 0.95)).columns,
                    above = *plan_of(int(crossing * 1.05)).columns;
  EXPECT_LT(below.sent(), below.by_rows);
  EXPECT_GT(above.sent(), above.by_rows);
  EXPECT_NEAR(above.crossing(), crossing, 1e-6 * crossing);
  const double inputs = below.by_rows / double(4 + 96 * 4) / 0.75;  // three of four rows are others'
  const double formula = 96 * inputs / (2 * 4 * below.rows);
  const double with_arcs = crossing + below.pushed / (2 * 3 * below.rows * 4);
  EXPECT_NEAR(with_arcs / formula, 1, 0.1);
}

TEST_F(Crossing, IsSaidBeforeTheRun) {
  const auto text_of = [&](int hidden, const std::string& options) {
    const Job job = batches_of("p3", {"sage", {}}, 4);
    return to_text(plan_of(hidden, options), job);
  };
  const double crossing = plan_of(16).columns->crossing();
  EXPECT_THAT(text_of(16, "columns: rank"), testing::HasSubstr("columns win"));
  EXPECT_THAT(text_of(int(2 * crossing), "columns: rank"), testing::HasSubstr("rows win"));
  EXPECT_THAT(text_of(16, "copies: 4"), testing::HasSubstr("no features and no summands travel"));
  EXPECT_THAT(to_json(plan_of(16), batches_of("p3", {"sage", {}}, 4)),
              testing::HasSubstr(R"("columnsWin":true)"));
}

TEST_F(Crossing, IsOutOfReachOfEncoders) {
  const SmallCase c{"gcnii", {"model.kind=gcnii", "model.layers=2", "model.hidden=16"}};
  const Dataset dataset = Dataset::open(folder_ / "small");
  const Job job = batches_of("p3", c, 4, "columns: rank");
  const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  EXPECT_FALSE(plan.columns->after_gather);
  EXPECT_THAT(to_text(plan, job), testing::HasSubstr("the first layer is an encoder"));
}

/// Features of all vertices: more copies are more columns.
TEST_F(Crossing, CopiesTakeMemoryAndSendLess) {
  const JobPlan one = plan_of(16), two = plan_of(16, "columns: rank, copies: 2"),
                four = plan_of(16, "copies: 4");
  constexpr Index kValues = 600 * 96 * Index(sizeof(Real));
  const auto features = [](const JobPlan& plan) {
    const auto& items = plan.ranks[0].memory.items;
    return std::ranges::find(items, "features", &MemoryItem::name)->bytes;
  };
  EXPECT_EQ(features(one), kValues / 4);
  EXPECT_EQ(features(two), kValues / 2);
  EXPECT_EQ(features(four), kValues);
  EXPECT_NEAR(two.columns->summed / one.columns->summed, 1.0 / 3, 1e-9);
  EXPECT_EQ(four.columns->sent(), 0);
}

}  // namespace
}  // namespace atl
