// The width of layers at which features by columns and by rows send the same, and what a plan says of it.
#include <gmock/gmock.h>

#include "plan/columns_job.h"
#include "plan/section_of.h"
#include "strategies/p3/plan.h"

namespace atl {
namespace {

ColumnsPlan columns_of(const JobPlan& plan) {
  return section_of<ColumnsSection>(plan).columns();
}

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
  const double width = columns_of(plan_of(16)).equal_width();
  ASSERT_GT(width, 20);
  const ColumnsPlan below = columns_of(plan_of(int(width * 0.95))),
                    above = columns_of(plan_of(int(width * 1.05)));
  EXPECT_LT(below.sent(), below.by_rows);
  EXPECT_GT(above.sent(), above.by_rows);
  EXPECT_NEAR(above.equal_width(), width, 1e-6 * width);
  const double inputs = below.by_rows / double(4 + 96 * 4) / 0.75;  // three of four rows are others'
  const double formula = 96 * inputs / (2 * 4 * below.rows);
  const double with_arcs = width + below.pushed / (2 * 3 * below.rows * 4);
  EXPECT_NEAR(with_arcs / formula, 1, 0.1);
}

/// Inference goes by whole rows: of few batches an epoch it sends more than these.
TEST_F(Crossing, EvaluationsThatSendMoreThanTrainingAreTold) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  const auto told = [&](const std::string& every) {
    const SmallCase c{
        "sage", {"model.kind=sage", "model.layers=2", "model.hidden=2", "training.evaluateEvery=" + every}};
    Job job = batches_of("p3", c, 4, "columns: rank", {"placement.partitioner.kind=hash"});
    job.strategy.options.set("batchSize", std::int64_t{1'000'000});
    const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
    double epoch = 0, evaluation = 0;
    for (const RankPlan& rank : plan.ranks)
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
        epoch += double(rank.epoch[p]), evaluation += double(rank.evaluation[p]);
    return std::pair(costly_evaluations(plan, job), evaluation / epoch);
  };
  const auto [text, times] = told("1");
  ASSERT_GT(times, 2);
  EXPECT_THAT(text, testing::HasSubstr(fmt::format("{:.1f} × what an epoch of training does", times)));
  EXPECT_EQ(told("1000").first, "");
}

/// There are as many scores at any width.
TEST_F(Crossing, OfAttentionLeavesScoresOut) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  const auto plan_of_gat = [&](int hidden) {
    const SmallCase c{"gat",
                      {"model.kind=gat", "model.layers=2", fmt::format("model.hidden={}", hidden),
                       "model.options.heads=1"}};
    const Job job = batches_of("p3", c, 4, "columns: rank", {"placement.partitioner.kind=hash"});
    return plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  };
  const ColumnsPlan first = columns_of(plan_of_gat(8));
  const double width = first.equal_width();
  ASSERT_GT(width, 5);
  const ColumnsPlan below = columns_of(plan_of_gat(int(width * 0.9))),
                    above = columns_of(plan_of_gat(int(width * 1.1) + 1));
  EXPECT_LT(below.sent(), below.by_rows);
  EXPECT_GT(above.sent(), above.by_rows);
  EXPECT_NEAR(above.equal_width(), width, 1e-6 * width);
  EXPECT_NEAR(above.scores(), first.scores(), 1e-9 * first.scores());
}

/// With a score for each of many heads, and few features, rows win whatever the width.
TEST_F(Crossing, OfManyScoresIsNone) {
  write_small_data(folder_ / "narrow", {.vertices = 600, .features = 8, .arc_share = 0.03});
  const Dataset dataset = Dataset::open(folder_ / "narrow");
  const SmallCase c{"gat", {"model.kind=gat", "model.layers=2", "model.hidden=1", "model.options.heads=8"}};
  const Job job = batches_of("p3", c, 4, "columns: rank", {"placement.partitioner.kind=hash"});
  const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  EXPECT_GT(columns_of(plan).sent(), columns_of(plan).by_rows);
  EXPECT_EQ(columns_of(plan).equal_width(), 0);
  EXPECT_THAT(to_text(plan, job),
              testing::HasSubstr("they send the same at no width: use strategy minibatch"));
}

TEST_F(Crossing, IsSaidBeforeTheRun) {
  const auto text_of = [&](int hidden, const std::string& options) {
    const Job job = batches_of("p3", {"sage", {}}, 4);
    return to_text(plan_of(hidden, options), job);
  };
  const double width = columns_of(plan_of(16)).equal_width();
  EXPECT_THAT(text_of(16, "columns: rank"), testing::HasSubstr("columns win"));
  EXPECT_THAT(text_of(int(2 * width), "columns: rank"), testing::HasSubstr("rows win"));
  EXPECT_THAT(text_of(16, "copies: 4"), testing::HasSubstr("no features and no summands travel"));
  EXPECT_THAT(to_json(plan_of(16), batches_of("p3", {"sage", {}}, 4)),
              testing::HasSubstr(R"("columnsWin":true)"));
}

TEST_F(Crossing, IsOutOfReachOfEncoders) {
  const SmallCase c{"gcnii", {"model.kind=gcnii", "model.layers=2", "model.hidden=16"}};
  const Dataset dataset = Dataset::open(folder_ / "small");
  const Job job = batches_of("p3", c, 4, "columns: rank");
  const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  EXPECT_FALSE(columns_of(plan).after_gather);
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
  EXPECT_NEAR(columns_of(two).summed / columns_of(one).summed, 1.0 / 3, 1e-9);
  EXPECT_EQ(columns_of(four).sent(), 0);
}

}  // namespace
}  // namespace atl
