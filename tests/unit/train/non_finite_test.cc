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

/// A pipeline of four convolutions in two stages, in whose second epoch the weight of one of them isn't a
/// number.
struct SpoiltPipeline {
  std::string failure;  // what rank 0 throws
  int layer = -1;       // the convolution's number among the model's layers
};

SpoiltPipeline spoilt_pipeline(int convolution, const std::string& options) {
  SpoiltPipeline spoilt;
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"model.layers=4", "training.dropout=0.5", "strategy.kind=gnnpipe",
                             "strategy.gnnpipe={stages: 2, layers: [2, 2], chunks: 3" + options + "}",
                             "placement.ranks=2"});
  spoilt.failure = failures_of_ranks(make_local_group(2, {"n1", "n2"}), {}, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    Parameters& p = rank.trainer->parameters();
    rank.trainer->train_epoch(1, 0.01);
    EXPECT_TRUE(rank.trainer->finite());
    int layer = 0;
    for (int before = 0; before < convolution || p.count_in(layer) == 0; ++layer)
      before += p.count_in(layer) > 0 ? 1 : 0;
    if (const MatrixView held = p.value(layer, 0); held.rows > 0)
      held.at(0, 0) = std::numeric_limits<Real>::quiet_NaN();
    if (comm.rank() == 0) spoilt.layer = layer;
    rank.trainer->train_epoch(2, 0.01);
    EXPECT_FALSE(rank.trainer->finite());
    rank.trainer->explain_non_finite({"epoch 2", {}, false});
  })[0];
  return spoilt;
}

/// The last stage alone has the loss, and sees every value behind the first one that isn't finite.
TEST(NonFinite, APipelineBlamesTheStageThatMadeTheFirstSuchValue) {
  for (const std::string options :
       {"", ", historyRefresh: 1", ", historyRefresh: 3", ", historicalGradients: true"})
    for (const int convolution : {0, 1, 2, 3}) {
      const SpoiltPipeline spoilt = spoilt_pipeline(convolution, options);
      EXPECT_THAT(spoilt.failure, HasSubstr(fmt::format("first seen in layer {} (", spoilt.layer)))
          << options;
      EXPECT_THAT(spoilt.failure,
                  HasSubstr(convolution < 2 ? ") on rank 0 (n1, stage 0);" : ") on rank 1 (n2, stage 1);"))
          << options << ", convolution " << convolution;
    }
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
