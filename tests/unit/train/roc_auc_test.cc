#include "train/evaluation.h"

#include <gtest/gtest.h>

#include <limits>

#include "train/small_job.h"

namespace atl {
namespace {

/// By definition: over all pairs of a positive and a negative.
double by_pairs(const std::vector<std::pair<float, bool>>& scored) {
  double won = 0, pairs = 0;
  for (const auto& [positive, is_positive] : scored) {
    for (const auto& [negative, is_negative_too] : scored) {
      if (!is_positive || is_negative_too) continue;
      won += positive > negative ? 1 : positive == negative ? 0.5 : 0;
      pairs += 1;
    }
  }
  return won / pairs;
}

TEST(RocAuc, IsTheShareOfPairsInTheRightOrder) {
  const Draws draws(5, Purpose::kGenerator);
  std::vector<std::pair<float, bool>> scored;
  for (std::uint64_t i = 0; i < 200; ++i)  // 20 levels: many ties
    scored.emplace_back(float(draws.bits64_at(i, 0) % 20), draws.uniform_at(i, 1) < 0.3);
  EXPECT_NEAR(roc_auc(scored).value(), by_pairs(scored), 1e-12);
}

TEST(RocAuc, IsAbsentWithoutBothKinds) {
  EXPECT_FALSE(roc_auc({}).has_value());
  EXPECT_FALSE(roc_auc({{1.0F, true}, {2.0F, true}}).has_value());
}

/// Weights that have grown too large give such scores before a loss tells of them: an evaluation must end.
TEST(RocAuc, OfScoresThatAreNoNumbersIsWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(roc_auc({{nan, true}, {0.0F, false}, {nan, false}}).value(), 0);
  EXPECT_EQ(roc_auc({{3.0F, true}, {nan, true}, {0.0F, false}, {1.0F, false}}).value(), 0.5);
}

/// The same on every rank, however many there are, whatever share of the vertices each has.
TEST(RocAuc, OfManyRanksIsThatOfOne) {
  for (const bool multi_label : {true, false}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.classes = multi_label ? 3 : 2, .multi_label = multi_label});
    const Job job = multi_label ? small_job({"training.loss=binaryCrossEntropy", "training.metric=rocAuc"})
                                : small_job({"training.metric=rocAuc"});
    const auto area = [&](int ranks) {
      std::vector<double> areas(static_cast<std::size_t>(ranks));
      run_ranks(ranks, [&](Communicator& comm) {
        SmallRank rank(comm, job, folder / "small", 1);
        Matrix logits(rank.data.owned(), rank.data.classes());
        for (Index r = 0; r < logits.rows(); ++r) {
          const auto id = std::uint64_t(rank.data.part().graph->ids[std::size_t(r)]);
          for (Index c = 0; c < logits.cols(); ++c)
            logits.at(r, c) = Real(Draws(6, Purpose::kGenerator).bits64_at(id, std::uint64_t(c)) % 16);
        }
        areas[std::size_t(comm.rank())] = roc_auc(comm, rank.data, logits, rank.data.validation.rows).value();
      });
      for (const double each : areas) EXPECT_EQ(each, areas[0]) << "every rank is told";
      return areas[0];
    };
    const double one = area(1);
    EXPECT_GT(one, 0);
    EXPECT_LT(one, 1);
    for (const int ranks : {2, 3, 4}) EXPECT_EQ(area(ranks), one) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace atl
