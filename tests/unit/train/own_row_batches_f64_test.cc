// Batches without neighbours (minibatch's sampler none) through the whole trainer: one batch of everything
// equals strategy `graph`; any ranks, threads and structure learn the same; and training sends only
// gradients.
#include <gmock/gmock.h>

#include "train/every_model.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  const std::string dropped = "training.inputDropout={rate: 0.3, position: afterAggregation}";
  return {
      {"plain", {dropped}},
      {"layer_norm_weighted", {"model.norm=layer", dropped}, {.weighted = true}},
      {"batch_norm", {"model.norm=batch"}},
      {"deep_batch_norm", {"model.norm=batch", "model.options.hopLayers=2", "model.denseLayers=1", dropped}},
      {"inductive", {"training.setting=inductive", dropped}},
      {"sparse_recompute", {"training.recompute=layer"}, {.density = 0.15}},
      {"bits", {dropped}, kBitData},
      {"multi_label",
       {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
       {.multi_label = true}}};
}

Job sign_job(const SmallCase& c, std::vector<std::string> more) {
  std::vector<std::string> fields{"model.kind=sign", "model.options={hops: 3}"};
  fields.insert(fields.end(), c.fields.begin(), c.fields.end());
  fields.insert(fields.end(), more.begin(), more.end());
  return small_job(fields);
}

Job batch_job(const SmallCase& c, int ranks, int batch_size, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"strategy.kind=minibatch", fmt::format("placement.ranks={}", ranks),
                           "placement.partitioner={kind: hash, parts: 6}", "strategy.minibatch.sampler=none",
                           fmt::format("strategy.minibatch.batchSize={}", batch_size)});
  return sign_job(c, more);
}

class OwnRowBatches : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const Job& job, int epochs, int threads = 1) {
    return train_small(job, folder_ / "small", job.placement.ranks, epochs, threads);
  }
  TemporaryFolder folder_;
};

/// Batch norm's statistics are over a batch's vertices there, and over all of the graph's here.
TEST_P(OwnRowBatches, OfEverythingAreGraph) {
  SmallCase c = GetParam();
  std::ranges::replace(c.fields, std::string("model.norm=batch"), std::string("model.norm=layer"));
  const SmallResult graph = train_small(sign_job(c, {}), folder_ / "small", 1, 20);
  for (const int ranks : {1, 3})
    expect_same_training(graph, train(batch_job(c, ranks, 1000), 20), fmt::format("{} ranks", ranks));
}

TEST_P(OwnRowBatches, AreTheSameOnAnyNumberOfRanks) {
  const SmallResult one = train(batch_job(GetParam(), 1, 7), 17);
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (const int ranks : {2, 3, 5})
    expect_same_training(one, train(batch_job(GetParam(), ranks, 7), 17), fmt::format("{} ranks", ranks),
                         1e-8);
}

TEST_P(OwnRowBatches, AreTheSameBitsWithAnyThreadsAndStructure) {
  const SmallResult one = train(batch_job(GetParam(), 2, 7), 4);
  expect_same_bits(train(batch_job(GetParam(), 2, 7, {"strategy.minibatch={prefetch: 5, threads: 3}"}), 4, 3),
                   one);
  expect_same_bits(train(batch_job(GetParam(), 2, 7, {"strategy.minibatch.structure=mapped"}), 4), one);
}

/// Nor does an evaluation ask for anything but the metric's sums.
TEST_P(OwnRowBatches, SendNothingButGradientsAndSums) {
  const Job job = batch_job(GetParam(), 3, 7);
  run_ranks(3, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder_ / "small", 1);
    rank.trainer->train_epoch(1, 0.01);
    const Ledger trained = comm.ledger();
    EXPECT_GT(trained.bytes(Link::kIntra, Traffic::kGradient), 0);
    for (const Traffic none : {Traffic::kHalo, Traffic::kStructure, Traffic::kFeatures, Traffic::kEvaluation})
      EXPECT_EQ(trained.bytes(Link::kIntra, none), 0) << traffic_name(none);
    // Who computes a row is told where statistics are over rows.
    if (job.model.norm != Norm::kBatch) {
      EXPECT_EQ(trained.bytes(Link::kIntra, Traffic::kIds), 0);
    }
    rank.trainer->inference().infer();
    EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, OwnRowBatches, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
