// The message where training diverges: the layer, the rank, the last good checkpoint; said once.
#include <gmock/gmock.h>

#include "train/small_job.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What each rank throws when training on a graph of few arcs, none of them between ranks. `tamper` changes
/// rank 1's weights.
std::vector<std::string> failures(const SmallData& data, void (*tamper)(Parameters&), double& loss,
                                  bool untrained = false) {
  TemporaryFolder folder;
  write_small_data(folder / "small", data);
  const Job job = small_job({"model.layers=2", "training.dropout=0"});
  return failures_of_ranks(make_local_group(2, {"n1", "n2"}), {}, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    EXPECT_EQ(rank.data.part().graph->halo, 0);
    if (comm.rank() == 1) tamper(rank.trainer->parameters());
    const double mine = rank.trainer->train_epoch(1, 0.01);
    if (comm.rank() == 1) loss = mine;
    EXPECT_FALSE(rank.trainer->finite());
    rank.trainer->explain_non_finite({"epoch 7", {5, 0}, untrained});
  });
}

/// The gradient of the first weight is x · d · w₁: 1e28 · 1e12 is more than float32 holds, though the loss
/// isn't.
TEST(NonFinite, AGradientThatOverflowsIsBlamedOnItsLayerAndRank) {
  double loss = 0;
  const auto said = failures(
      {.arc_share = 0.005, .feature_scale = 1e28},
      [](Parameters& p) {
        for (int layer = 0, weights = 0; weights < 2; ++layer) {
          if (p.count_in(layer) == 0) continue;
          const MatrixView w = p.value(layer, 0);
          for (Index r = 0; r < w.rows; ++r) {
            for (Index c = 0; c < w.cols; ++c) w.at(r, c) *= weights == 0 ? Real(1e-30) : Real(1e12);
          }
          ++weights;
        }
      },
      loss);
  EXPECT_TRUE(std::isfinite(loss)) << loss;
  EXPECT_THAT(said[0], HasSubstr("epoch 7: loss or gradient is not finite"));
  EXPECT_THAT(said[0], HasSubstr("first seen in the gradient of layers."));
  EXPECT_THAT(said[0], HasSubstr("on rank 1 (n2)"));
  EXPECT_THAT(said[0], HasSubstr("the last good checkpoint is of epoch 5"));
  EXPECT_THAT(said[1], Not(HasSubstr("not finite"))) << "it is said once";
}

TEST(NonFinite, AnOutputIsBlamedOnTheFirstLayerThatHasIt) {
  double loss = 0;
  const auto said = failures(
      {.arc_share = 0.005},
      [](Parameters& p) {
        int last = 0;
        for (const Parameters::Entry& e : p.entries()) last = std::max(last, e.layer);
        p.value(last, 0).at(0, 0) = std::numeric_limits<Real>::quiet_NaN();
      },
      loss);
  EXPECT_FALSE(std::isfinite(loss));
  EXPECT_THAT(said[0], testing::ContainsRegex("first seen in layer [0-9] .conv 8 → 3. on rank 1 .n2."));
  EXPECT_THAT(said[0], HasSubstr("lower training.optimizer.learningRate"));
  EXPECT_THAT(said[1], Not(HasSubstr("not finite"))) << "it is said once";
}

/// No learning rate helps.
TEST(NonFinite, AnOutputBeforeTheFirstStepIsBlamedOnTheFeatures) {
  double loss = 0;
  const auto said = failures(
      {.arc_share = 0.005, .feature_scale = 3e38},
      [](Parameters& p) {
        const MatrixView w = p.value(p.entries().front().layer, 0);
        for (Index r = 0; r < w.rows; ++r)
          for (Index c = 0; c < w.cols; ++c) w.at(r, c) = Real(100);
      },
      loss, true);
  EXPECT_THAT(said[0], AllOf(HasSubstr("the features are too large to compute with"),
                             HasSubstr("dataset.normaliseFeatures: row"), Not(HasSubstr("learningRate"))));
}

}  // namespace
}  // namespace atl
