// Strategy bns in float64: with all rows it gives strategy graph's result, with a sample its simulation's,
// with no rows that of separate parts.
#include <gmock/gmock.h>

#include "job/strategies.h"
#include "train/every_model.h"
#include "train/small_job.h"
#include "train/stale_gcn.h"

namespace atl {
namespace {

class BnsAtOne : public testing::TestWithParam<SmallCase> {};

/// Every row is drawn, and goes through the machinery of the sample.
TEST_P(BnsAtOne, EqualsOneRankWithDropout) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Job alone = small_job(GetParam().fields);
  const SmallResult one = train_small(alone, folder / "small", 1, 20);
  for (const auto& [ranks, partitioner] : {std::pair(2, "metis"), {4, "metis"}, {3, "hash"}, {2, "range"}}) {
    Job job = alone;
    job.strategy.row = find_strategy("bns");
    job.strategy.options = {};
    job.strategy.options.set("rate", 1.0);
    job.strategy.options.set("haloRows", std::string(ranks == 3 ? "inputs" : "products"));
    job.placement.partitioner.kind = partitioner;
    const SmallResult many = train_small(job, folder / "small", ranks, 20);
    for (std::size_t e = 0; e < 20; ++e)
      EXPECT_NEAR(many.losses[e], one.losses[e], 1e-9 * one.losses[e])
          << ranks << " ranks, " << partitioner << ", epoch " << e + 1;
    EXPECT_NEAR(many.validation_loss, one.validation_loss, 1e-9 * one.validation_loss);
    for (std::size_t i = 0; i < one.weights.size(); ++i)
      ASSERT_NEAR(many.weights[i], one.weights[i], 1e-9 * std::max(1.0, std::abs(double(one.weights[i]))));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, BnsAtOne, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Models, BnsAtOne,
    testing::Values(SmallCase{"gcn", {"model.norm=batch"}}, SmallCase{"gcn_weighted", {}, {.weighted = true}},
                    SmallCase{"gcn_directed_recompute", {"training.recompute=layer"}, {.symmetric = false}},
                    SmallCase{"gat_weighted_recompute",
                              {"model.kind=gat", "model.options={heads: 2}", "training.recompute=layer"},
                              {.weighted = true}},
                    SmallCase{"inductive", {"training.setting=inductive"}}),
    [](const auto& each) { return each.param.name; });

class BnsRecurrence : public Recurrence {};

/// Which rows are drawn is asked of both sides separately; the size of each draw is the test's own.
TEST_P(BnsRecurrence, EveryEpochsLossAndTheWeights) {
  for (const auto& [ranks, partitioner] : {std::pair(2, "metis"), {3, "hash"}, {4, "range"}, {1, "hash"}}) {
    std::vector<std::string> fields{"training.dropout=0", "strategy.kind=bns",
                                    "training.optimizer={kind: sgd, learningRate: 0.1}",
                                    fmt::format("placement.partitioner={{kind: {}}}", partitioner)};
    fields.insert(fields.end(), GetParam().fields.begin(), GetParam().fields.end());
    expect_equal(small_job(fields), ranks, 12);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rates, BnsRecurrence,
    testing::Values(SmallCase{"a_third", {"strategy.bns={rate: 0.34}"}},
                    SmallCase{"one_row_a_pair", {"strategy.bns={rate: 0.01}"}},
                    SmallCase{"parts_alone", {"strategy.bns={rate: 0}"}},
                    SmallCase{"recomputing", {"strategy.bns={rate: 0.34}", "training.recompute=layer"}}),
    [](const auto& each) { return each.param.name; });

/// A draw belongs to parts, whichever ranks train them.
TEST(Bns, PartsOnOtherRanksDrawTheSame) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"strategy.kind=bns", "strategy.bns={rate: 0.3}"});
  const SmallResult plain = train_small(job, folder / "small", 4, 10);
  const SmallResult moved = train_small(job, folder / "small", 4, 10, 1, {2, 0, 3, 1});
  for (std::size_t e = 0; e < 10; ++e) EXPECT_NEAR(moved.losses[e], plain.losses[e], 1e-9 * plain.losses[e]);
}

TEST(Bns, OddRanksTakePart) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  for (const std::string& model : every_kind()) {
    const std::vector<std::string> fields{fmt::format("model.kind={}", model),
                                          "placement.partitioner={kind: hash}"};
    std::vector<std::string> sampled = fields;
    sampled.insert(sampled.end(), {"strategy.kind=bns", "strategy.bns={rate: 1}"});
    EXPECT_TRUE(odd_ranks(small_job(sampled), folder / "small", kFourAndFive).of_each_kind());
    const SmallResult one = train_small(small_job(fields), folder / "small", 1, 5);
    for (const int ranks : kFourAndFive) {
      const SmallResult many = train_small(small_job(sampled), folder / "small", ranks, 5);
      for (std::size_t e = 0; e < 5; ++e) EXPECT_NEAR(many.losses[e], one.losses[e], 1e-9 * one.losses[e]);
    }
  }
}

}  // namespace
}  // namespace atl
