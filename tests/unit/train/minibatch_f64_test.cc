// Strategy `minibatch` through the whole trainer: the same on any number of ranks, equal to `graph` where a
// batch is everything, and exact inference in slabs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "job/models.h"
#include "strategies/schedule/layerwise_inference.h"
#include "train/every_model.h"

namespace atl {
namespace {

constexpr double kSame = 1e-9;  // of sums in another order

/// The case as mini-batches over six parts; `more` are further fields.
Job batch_job(const SmallCase& c, int ranks, const std::string& fanout, std::vector<std::string> more = {}) {
  std::vector<std::string> fields = c.fields;
  const int layers = gathering_layers(small_job(fields).model);
  std::string list;
  for (int l = 0; l < layers; ++l) list += (l > 0 ? ", " : "") + fanout;
  for (const std::string& each :
       {std::string("strategy.kind=minibatch"), "strategy.minibatch.fanout=[" + list + "]",
        std::string("placement.partitioner={kind: range, parts: 6}"),
        fmt::format("placement.ranks={}", ranks)})
    more.push_back(each);
  fields.insert(fields.end(), more.begin(), more.end());
  return small_job(fields);
}

void expect_same(const SmallResult& a, const SmallResult& b) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) ASSERT_NEAR(a.losses[i] / b.losses[i], 1, kSame) << i;
  EXPECT_NEAR(a.validation_loss / b.validation_loss, 1, kSame);
  ASSERT_EQ(a.weights.size(), b.weights.size());
  // A bias before batch norm has rounding alone for a gradient. Adam follows it, and the running mean follows
  // the bias.
  constexpr double kDrift = 1e-8;
  for (std::size_t i = 0; i < a.weights.size(); ++i) ASSERT_NEAR(a.weights[i], b.weights[i], kDrift) << i;
}

class MiniBatches : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const Job& job, int epochs) {
    return train_small(job, folder_ / "small", job.placement.ranks, epochs);
  }
  TemporaryFolder folder_;
};

/// 18 training vertices in batches of 7: three steps an epoch.
TEST_P(MiniBatches, AreTheSameOnAnyNumberOfRanks) {
  const std::vector<std::string> steps{"strategy.minibatch.batchSize=7"};
  std::vector<std::string> mapped = steps;
  mapped.push_back("strategy.minibatch.structure=mapped");
  const SmallResult one = train(batch_job(GetParam(), 1, "2", steps), 17);
  EXPECT_NE(one.losses.front(), one.losses.back());
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    expect_same(train(batch_job(GetParam(), ranks, "2", ranks == 3 ? mapped : steps), 17), one);
  }
}

TEST_P(MiniBatches, OfEverythingAreGraph) {
  SmallCase c = GetParam();
  // Batch norm's statistics are over other vertices: those that a batch computes.
  std::ranges::replace(c.fields, std::string("model.norm=batch"), std::string("model.norm=none"));
  for (const char* setting : {"transductive", "inductive"}) {
    SCOPED_TRACE(setting);
    const std::string chosen = std::string("training.setting=") + setting;
    std::vector<std::string> whole = c.fields;
    whole.push_back(chosen);
    const SmallResult graph = train_small(small_job(whole), folder_ / "small", 1, 5);
    expect_same(train(batch_job(c, 3, "-1", {chosen}), 5), graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MiniBatches, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Data, MiniBatches,
    testing::Values(SmallCase{"weighted", {"model.norm=layer"}, {.weighted = true}},
                    SmallCase{"directed", {"model.kind=sage"}, {.symmetric = false}},
                    SmallCase{
                        "sparse", {"training.inputDropout={rate: 0.3}"}, {.features = 40, .density = 0.1}},
                    SmallCase{"several_labels",
                              {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                              {.multi_label = true}},
                    SmallCase{"recomputed", {"model.kind=gat", "training.recompute=layer"}}),
    [](const auto& each) { return each.param.name; });

/// By vertex: of all ranks.
using Logits = std::map<VertexId, std::vector<Real>>;

class Slabs : public testing::Test {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", {}); }
  TemporaryFolder folder_;
};

/// A slab of at least one row, so of one row each, and one of all.
TEST_F(Slabs, OfAnySizeGiveTheSameLogits) {
  const Job job = batch_job({"gcnii", {"model.kind=gcnii", "model.layers=4"}, {}}, 3, "2");
  run_ranks(3, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder_ / "small", 1);
    const ConstMatrixView all = rank.trainer->inference().infer();
    LayerwiseInference in_slabs(rank.ctx, comm, rank.trainer->model(), rank.trainer->parameters(),
                                rank.data.held().batches(), {.bytes = 1});
    const ConstMatrixView slabs = in_slabs.infer();
    ASSERT_EQ(slabs.rows, all.rows);
    for (Index r = 0; r < all.rows; ++r)
      for (Index c = 0; c < all.cols; ++c) ASSERT_NEAR(slabs.at(r, c), all.at(r, c), kSame);
    EXPECT_EQ(in_slabs.embeddings().rows, all.rows);
  });
}

TEST_F(Slabs, HoldLessThanAllRowsAtOnce) {
  const Job job = batch_job({"sage", {"model.kind=sage"}, {}}, 1, "2");
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder_ / "small", 1);
    ScheduleBytes small, large;
    for (const auto& [bytes, held] : {std::pair{Index(1), &small}, std::pair{Index(1) << 20, &large}}) {
      LayerwiseInference inference(rank.ctx, comm, rank.trainer->model(), rank.trainer->parameters(),
                                   rank.data.held().batches(), {.bytes = bytes});
      inference.infer();
      inference.count(*held);
    }
    EXPECT_LT(small.total(), large.total());
  });
}

/// How batches are made, and where rows are kept, changes nothing, not a bit.
TEST_F(Slabs, CacheThreadsAndPrefetchChangeNoBits) {
  const SmallCase sage{"sage", {"model.kind=sage"}, {}};
  const auto losses = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"strategy.minibatch.batchSize=7"};
    all.insert(all.end(), more.begin(), more.end());
    return train_small(batch_job(sage, 3, "2", all), folder_ / "small", 3, 6);
  };
  const SmallResult plain = losses({});
  for (const char* policy : {"degree", "presampled", "lru"}) {
    SCOPED_TRACE(policy);
    const SmallResult cached =
        losses({fmt::format("strategy.minibatch.cache={{bytes: 2048, policy: {}}}", policy),
                "strategy.minibatch.threads=2", "strategy.minibatch.prefetch=5"});
    EXPECT_EQ(cached.losses, plain.losses);
    EXPECT_EQ(cached.weights, plain.weights);
  }
}

/// As a benchmark does.
TEST_F(Slabs, TrainBeyondTheJobsEpochs) {
  const SmallCase sage{"sage", {"model.kind=sage"}, {}};
  const auto losses = [&](const std::string& epochs) {
    const Job job = batch_job(sage, 2, "2", {"strategy.minibatch.batchSize=7", epochs});
    return train_small(job, folder_ / "small", 2, 4).losses;
  };
  EXPECT_EQ(losses("training.epochs=1"), losses("training.epochs=9"));
}

}  // namespace
}  // namespace atl
