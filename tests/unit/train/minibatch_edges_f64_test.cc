// Edge cases of mini-batches: batches larger than the training set, parts without training vertices, training
// vertices without neighbours, caches larger than any memory, and the divisor of a step's loss.
#include <gmock/gmock.h>

#include "train/small_job.h"

namespace atl {
namespace {

class BatchEdges : public testing::Test {
 protected:
  SmallResult train(int ranks, std::vector<std::string> fields, int epochs) {
    for (const char* each : {"strategy.kind=minibatch", "placement.partitioner={kind: range, parts: 6}"})
      fields.emplace_back(each);
    fields.push_back(fmt::format("placement.ranks={}", ranks));
    return train_small(small_job(fields), folder_ / "small", ranks, epochs);
  }
  TemporaryFolder folder_;
};

TEST_F(BatchEdges, ABatchLargerThanTheTrainingSetIsTheTrainingSet) {
  write_small_data(folder_ / "small", {});
  const SmallResult exact = train(2, {"strategy.minibatch.batchSize=18"}, 4);
  const SmallResult larger = train(2, {"strategy.minibatch.batchSize=1000000"}, 4);
  EXPECT_EQ(larger.losses, exact.losses);
  EXPECT_EQ(larger.weights, exact.weights);
}

/// Half of the vertices, those of the last three parts, have neither arcs nor labels.
TEST_F(BatchEdges, RanksWithoutTrainingVerticesTakePart) {
  write_small_data(folder_ / "small", {.strangers = 60});
  const std::vector<std::string> fields{"strategy.minibatch.batchSize=5", "model.norm=batch",
                                        "training.dropout=0.3"};
  const SmallResult one = train(1, fields, 5);
  for (const int ranks : {2, 6}) {
    const SmallResult many = train(ranks, fields, 5);
    for (std::size_t e = 0; e < one.losses.size(); ++e) EXPECT_NEAR(many.losses[e] / one.losses[e], 1, 1e-9);
  }
}

/// The few arcs that there are leave most vertices without any.
TEST_F(BatchEdges, TrainingVerticesWithoutNeighboursTrain) {
  write_small_data(folder_ / "small", {.arc_share = 0.005});
  const std::vector<std::string> fields{"strategy.minibatch.batchSize=5", "model.kind=sage",
                                        "training.dropout=0"};
  const SmallResult one = train(1, fields, 20), many = train(3, fields, 20);
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (std::size_t e = 0; e < one.losses.size(); ++e) EXPECT_NEAR(many.losses[e] / one.losses[e], 1, 1e-9);
}

/// It takes what others' rows take, and no more.
TEST_F(BatchEdges, ACacheLargerThanAnyMemoryHoldsAllRows) {
  write_small_data(folder_ / "small", {});
  const std::vector<std::string> fields{"strategy.minibatch.batchSize=5", "training.dropout=0.3"};
  const SmallResult plain = train(3, fields, 5);
  for (const char* policy : {"degree", "presampled", "lru"}) {
    std::vector<std::string> cached = fields;
    cached.push_back(fmt::format("strategy.minibatch.cache={{bytes: 1000Ti, policy: {}}}", policy));
    EXPECT_EQ(train(3, cached, 5).losses, plain.losses) << policy;
  }
}

/// With a learning rate so small that the weights hardly move, the three steps of an epoch add up to one of
/// all training vertices with three times the rate: each step's loss is the mean over its own vertices.
TEST_F(BatchEdges, AStepsLossIsDividedByItsVertices) {
  write_small_data(folder_ / "small", {});
  const auto moved = [&](const char* batch_size, double rate) {
    const std::vector<std::string> fields{"strategy.minibatch={fanout: [-1, -1, -1]}", batch_size,
                                          "training.dropout=0"};
    auto with_rate = fields;
    with_rate.push_back(
        fmt::format("training.optimizer={{kind: sgd, learningRate: {}, weightDecay: 0}}", rate));
    const std::vector<Real> after = train(2, with_rate, 1).weights;
    const std::vector<Real> before = train(2, with_rate, 0).weights;
    std::vector<double> difference;
    for (std::size_t i = 0; i < after.size(); ++i) difference.push_back(after[i] - before[i]);
    return difference;
  };
  const std::vector<double> steps = moved("strategy.minibatch.batchSize=6", 1e-7);
  const std::vector<double> whole = moved("strategy.minibatch.batchSize=18", 3e-7);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    error += (steps[i] - whole[i]) * (steps[i] - whole[i]);
    size += whole[i] * whole[i];
  }
  ASSERT_GT(size, 0);
  EXPECT_LT(std::sqrt(error / size), 1e-4);
}

}  // namespace
}  // namespace atl
