// Batch norm's running statistics are those of the passes that have rows. Of drawn clusters, and of a
// pipeline's chunks in inductive training, some may have no training vertices, and then no rows at all
// (float64).
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

/// The second half of the vertices have neither arcs nor labels, and never train.
class PassesWithoutRows : public testing::Test {
 protected:
  PassesWithoutRows() { write_small_data(folder_ / "small", {.strangers = 60}); }

  SmallResult train(std::vector<std::string> fields) {
    for (const char* each : {"model.norm=batch", "training.dropout=0"}) fields.emplace_back(each);
    return train_small(small_job(fields), folder_ / "small", 1, 6);
  }

 private:
  TemporaryFolder folder_;
};

/// A step without training vertices has no gradient, so that SGD takes no step either: two parts, of which
/// one has none, learn what one part of all vertices learns.
TEST_F(PassesWithoutRows, StepsOfClustersLeaveStatisticsAlone) {
  const auto with_parts = [&](int parts) {
    return train({"strategy.kind=minibatch", "strategy.minibatch={sampler: cluster, merged: 1}",
                  fmt::format("placement.partitioner={{kind: range, parts: {}}}", parts),
                  "training.optimizer={kind: sgd, learningRate: 0.1, weightDecay: 0}"});
  };
  const SmallResult one = with_parts(1);
  ASSERT_NE(one.losses.front(), one.losses.back());
  expect_same_training(one, with_parts(2), "two clusters");
}

/// The second of two chunks has none of the training vertices.
TEST_F(PassesWithoutRows, ChunksLeaveStatisticsAlone) {
  const auto in_chunks = [&](int chunks) {
    return train({"strategy.kind=gnnpipe", fmt::format("strategy.gnnpipe={{stages: 1, chunks: {}}}", chunks),
                  "placement.partitioner=range", "training.setting=inductive"});
  };
  const SmallResult one = in_chunks(1);
  ASSERT_NE(one.losses.front(), one.losses.back());
  expect_same_training(one, in_chunks(2), "two chunks");
}

}  // namespace
}  // namespace atl
