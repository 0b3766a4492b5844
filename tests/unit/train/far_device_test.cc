// Every model under every strategy gives the host's bits on a device whose memory the host can't reach and
// whose streams are late.
#include <gtest/gtest.h>

#include "strategies/schedule/layerwise_inference.h"
#include "train/checkpoint/run_state.h"
#include "train/every_model.h"

namespace atl {
namespace {

class OnAFarDevice : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  test::FarDevice device_;
  TemporaryFolder folder_;
};

TEST_P(OnAFarDevice, EveryStrategyTrainsAlike) {
  constexpr int kEpochs = 4;
  unsigned seed = 1;
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const Job job = job_of(GetParam(), strategy);
    const SmallResult near = train_small(job, folder_ / "small", strategy.ranks, kEpochs);
    expect_same_bits(train_far(job, folder_ / "small", seed += 10, kEpochs), near);
  }
}

TEST_P(OnAFarDevice, InductiveAndRecomputingTrainAlike) {
  for (const char* kind : {"graph", "minibatch", "p3"}) {
    SCOPED_TRACE(kind);
    const StrategyCase strategy{
        kind,
        2,
        {std::string("strategy.kind=") + kind, "training.setting=inductive", "training.recompute=layer"}};
    const Job job = job_of(GetParam(), strategy);
    const SmallResult near = train_small(job, folder_ / "small", 2, 3);
    expect_same_bits(train_far(job, folder_ / "small", 5, 3), near);
  }
}

/// Batches that read no neighbours (sampler none).
TEST(OwnRowsOnAFarDevice, TrainAlike) {
  const test::FarDevice device;
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const char* setting : {"transductive", "inductive"}) {
    SCOPED_TRACE(setting);
    const Job job = small_job({"model.kind=sign", "model.norm=batch", "strategy.kind=minibatch",
                               "placement.ranks=2", "strategy.minibatch={sampler: none, batchSize: 7}",
                               "training.inputDropout={rate: 0.3, position: afterAggregation}",
                               fmt::format("training.setting={}", setting)});
    const SmallResult near = train_small(job, folder / "small", 2, 4);
    expect_same_bits(train_far(job, folder / "small", 5, 4), near);
  }
}

/// Its input is where kernels read it: a copy of it, as of features, would be made through the host.
TEST(InferenceOnAFarDevice, OfTheLastLayerAloneReadsItsInputInPlace) {
  const test::FarDevice device;
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job(
      {"model.kind=sign", "strategy.kind=minibatch", "strategy.minibatch={sampler: none, batchSize: 7}"});
  test::run_far_ranks(1, [&](Communicator& comm) {
    test::FarStream stream(5);
    SmallRank rank(comm, job, folder / "small", 1, {}, Device::kCuda, stream);
    Schedule& whole = rank.trainer->inference();
    HostRows whole_here, last_here;
    const ConstMatrixView expected = whole_here.of(rank.ctx, whole.infer());
    const ConstMatrixView input = whole.embeddings();
    const Model& model = rank.trainer->model();
    const Holding held = rank.data.held();
    LayerwiseInference last(
        rank.ctx, comm, model, rank.trainer->parameters(), held.batches(),
        {.layers = {int(model.layers.size()) - 1, -1}, .mapped = true, .input_rows = input});
    const ConstMatrixView logits = last_here.of(rank.ctx, last.infer());
    EXPECT_EQ(last.embeddings().data, input.data);
    ASSERT_EQ(logits.rows, expected.rows);
    ASSERT_EQ(logits.cols, expected.cols);
    for (Index r = 0; r < logits.rows; ++r)
      for (Index c = 0; c < logits.cols; ++c) EXPECT_NEAR(logits.at(r, c), expected.at(r, c), 1e-5);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, OnAFarDevice, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, OnAFarDevice, testing::ValuesIn(other_data()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
