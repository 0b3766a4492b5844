// Strategy `p3` with one batch at a time learns what `minibatch` learns from the same batches, on any number
// of ranks, however the columns are divided.
#include <gtest/gtest.h>

#include "comm/transports.h"
#include "model/residual_block.h"
#include "strategies/p3/batch_in_flight.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kEpochs = 9;

class P3 : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const Job& job) {
    return train_small(job, folder_ / "small", job.placement.ranks, kEpochs);
  }
  /// The weights of rank 0 are slices; losses and metrics are of the whole model.
  static SmallResult without_weights(SmallResult result) {
    result.weights.clear();
    return result;
  }
  TemporaryFolder folder_;
};

TEST_P(P3, LearnsWhatMiniBatchesLearn) {
  const SmallResult one = train(batches_of("minibatch", GetParam(), 1));
  EXPECT_NE(one.losses.front(), one.losses.back());
  expect_same_training(one, train(batches_of("p3", GetParam(), 1)), "1 rank");
  for (const int ranks : {2, 3, 4})
    expect_same_training(without_weights(one),
                         without_weights(train(batches_of("p3", GetParam(), ranks, "columns: rank"))),
                         fmt::format("{} ranks", ranks));
}

/// Six ranks on three servers of two; and so that two servers, or all, have the same columns.
TEST_P(P3, DividesColumnsOverServersAndInCopies) {
  const SmallResult one = train(batches_of("minibatch", GetParam(), 1));
  const auto same = [&](int ranks, const std::string& options, std::vector<std::string> more) {
    expect_same_training(without_weights(one),
                         without_weights(train(batches_of("p3", GetParam(), ranks, options, more))),
                         fmt::format("{} ranks, {}", ranks, options));
  };
  same(6, "columns: server", {"placement.ranksPerServer=2"});
  same(4, "columns: rank, copies: 2, structure: mapped", {"placement.ranksPerServer=2"});
  same(4, "copies: 2", {"placement.ranksPerServer=1"});
  same(3, "copies: 3", {});
}

INSTANTIATE_TEST_SUITE_P(Models, P3, testing::ValuesIn(every_model_by_columns()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(FirstLayers, P3, testing::ValuesIn(first_layers()),
                         [](const auto& each) { return each.param.name; });

class P3Edges : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

/// Half of the vertices, those of the last three parts, have neither arcs nor labels.
TEST_F(P3Edges, RanksWithoutTrainingVerticesTakePart) {
  const SmallCase c{"gat", {"model.kind=gat", "model.norm=batch"}, {.strangers = 60}};
  write_small_data(folder_ / "small", c.data);
  const auto losses = [&](int ranks, const std::string& options) {
    return train_small(batches_of("p3", c, ranks, options), folder_ / "small", ranks, 6).losses;
  };
  const std::vector<double> one = losses(1, "");
  for (const auto& [ranks, options] :
       {std::pair{2, "columns: rank"}, std::pair{6, "columns: rank"}, std::pair{6, "copies: 3, delay: 0"}}) {
    const std::vector<double> many = losses(ranks, options);
    for (std::size_t e = 0; e < one.size(); ++e) EXPECT_NEAR(many[e] / one[e], 1, 1e-9) << ranks << options;
  }
}

/// How batches are made changes no bit.
TEST_F(P3Edges, ThreadsPrefetchAndStructureChangeNoBits) {
  const SmallCase c{"sage", {"model.kind=sage"}, {}};
  write_small_data(folder_ / "small", c.data);
  const auto train = [&](const std::string& options, int threads) {
    return train_small(batches_of("p3", c, 3, options), folder_ / "small", 3, 6, threads);
  };
  const SmallResult plain = train("", 1), other = train("prefetch: 5, threads: 2, structure: mapped", 3);
  EXPECT_EQ(plain.losses, other.losses);
  EXPECT_EQ(plain.weights, other.weights);
}

/// No model begins with such a layer; a new one might.
TEST(P3DeathTest, ALayerThatCantBeSplitIsRefusedBeforeAStep) {
  ThreadPool pool(1);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  Communicator comm(std::move(make_local_group(1).front()));
  Model model;
  model.layers.push_back(make_mean_block(4, RowStart({.cols = 4}, 2, 1)));
  const LayerRunner runner(ctx, model, nullptr);
  const ColumnShare share = column_share(4, {0, 1}, 0);
  EXPECT_DEATH(BatchInFlight(ctx, comm, model, runner, share, {}), "can't have its input's columns split");
}

}  // namespace
}  // namespace atl
