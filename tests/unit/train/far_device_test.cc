// Every model under every strategy on a device whose memory is out of the host's reach and whose streams are late: the same bits as on
// the host.
#include <gtest/gtest.h>

#include "comm/far_transport.h"
#include "train/checkpoint/part_states.h"
#include "train/checkpoint/run_state.h"
#include "train/every_model.h"

namespace atl {
namespace {

struct StrategyCase {
  std::string name;
  int ranks;
  std::vector<std::string> fields;
};

std::vector<StrategyCase> every_strategy() {
  return {
      {"graph", 2, {"strategy.kind=graph"}},
      {"graph_no_overlap",
       2,
       {"strategy.kind=graph", "strategy.graph.overlap=false", "strategy.wire=bfloat16"}},
      {"pipegcn", 3, {"strategy.kind=pipegcn", "strategy.pipegcn.smoothing=both"}},
      {"pipegcn_sampled",
       2,
       {"strategy.kind=pipegcn", "strategy.pipegcn={smoothing: none, boundaryRate: 0.5}"}},
      {"bns", 2, {"strategy.kind=bns", "strategy.bns.rate=0.5"}},
      {"cagnet", 3, {"strategy.kind=cagnet"}},
      {"cagnet_replicated", 4, {"strategy.kind=cagnet", "strategy.cagnet.replication=2"}},
      {"sancus", 2, {"strategy.kind=sancus", "strategy.sancus.warmup=1"}},
      {"sancus_bounded", 3, {"strategy.kind=sancus", "strategy.sancus={rule: bounded, threshold: 0.5}"}},
      {"gnnpipe", 3, {"strategy.kind=gnnpipe", "strategy.gnnpipe={historyRefresh: 2}"}},
      {"gnnpipe_hybrid",
       4,
       {"strategy.kind=gnnpipe", "strategy.gnnpipe={chunks: 4, historicalGradients: true}"}},
      {"gnnpipe_wire",
       4,
       {"strategy.kind=gnnpipe", "strategy.gnnpipe={chunks: 4}", "strategy.wire=bfloat16"}},
      {"granndis", 4, {"strategy.kind=granndis", "placement.ranksPerServer=2"}},
      {"granndis_hops",
       4,
       {"strategy.kind=granndis", "strategy.granndis={hops: 1}", "placement.ranksPerServer=2"}},
      {"granndis_hops_inductive",
       4,
       {"strategy.kind=granndis", "strategy.granndis={hops: 1}", "training.setting=inductive",
        "placement.ranksPerServer=2"}},
      {"granndis_batches",
       4,
       {"strategy.kind=granndis", "strategy.granndis={batches: 2}", "placement.ranksPerServer=2"}},
      {"granndis_redrawn",
       4,
       {"strategy.kind=granndis", "strategy.granndis={fanout: 1, redraw: epoch}",
        "placement.ranksPerServer=2"}},
      {"minibatch", 2, {"strategy.kind=minibatch", "strategy.minibatch.batchSize=7"}},
      {"p3", 3, {"strategy.kind=p3", "strategy.p3.batchSize=7"}},
      {"p3_wire", 2, {"strategy.kind=p3", "strategy.p3.batchSize=7", "strategy.wire=bfloat16"}},
      {"p3_pipeline", 4, {"strategy.kind=p3", "strategy.p3={batchSize: 7, delay: 3, copies: 2}"}},
  };
}

Job job_of(const SmallCase& model, const StrategyCase& strategy) {
  std::vector<std::string> fields = model.fields;
  fields.insert(fields.end(), strategy.fields.begin(), strategy.fields.end());
  fields.push_back("placement.ranks=" + std::to_string(strategy.ranks));
  fields.push_back("training.optimizer={clipNorm: 0.5}");
  for (const std::string kind : {"minibatch", "p3"}) {
    if (!strategy.name.starts_with(kind)) continue;
    std::string fanout;
    for (int layers = gathering_layers(small_job(model.fields).model); layers > 0; --layers)
      fanout += fanout.empty() ? "2" : ", 2";
    fields.push_back("strategy." + kind + ".fanout=[" + fanout + "]");
  }
  return small_job(fields);
}

SmallResult train_far(const Job& job, const std::filesystem::path& dataset, unsigned seed, int epochs) {
  SmallResult result;
  test::run_far_ranks(job.placement.ranks, [&](Communicator& comm) {
    test::FarStream stream(seed + unsigned(comm.rank()));
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, stream);
    SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() == 0) result = std::move(mine);
  });
  return result;
}

void expect_same_bits(const SmallResult& far, const SmallResult& near) {
  EXPECT_EQ(far.losses, near.losses);
  EXPECT_EQ(far.validation, near.validation);
  EXPECT_EQ(far.validation_loss, near.validation_loss);
  EXPECT_EQ(far.weights, near.weights);
}

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

INSTANTIATE_TEST_SUITE_P(Models, OnAFarDevice, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Data, OnAFarDevice,
    testing::Values(SmallCase{"bits", {}, kBitData}, SmallCase{"sparse", {}, {.density = 0.15}},
                    SmallCase{
                        "weighted_directed", {"model.kind=gat"}, {.weighted = true, .symmetric = false}},
                    SmallCase{"several_labels",
                              {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                              {.multi_label = true}},
                    SmallCase{"several_labels_by_area",
                              {"training.loss=binaryCrossEntropy", "training.metric=rocAuc"},
                              {.multi_label = true}},
                    SmallCase{"f1_macro", {"training.metric=f1Macro"}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
