// Every model with each of its aggregators, dropout and norms on, for what must hold under every exchange. A
// new kind of model gets a case here, and so joins every test over all models; every_model_test.cc names a
// kind without a case.
#pragma once

#include <gtest/gtest.h>
#include <vector>

#include "comm/far_transport.h"
#include "job/models.h"
#include "train/small_job.h"

namespace atl {

inline std::vector<SmallCase> every_model() {
  const std::string input_dropout = "training.inputDropout={rate: 0.3}";
  return {
      {"gcn", {"model.norm=layer", input_dropout}},
      {"sage", {"model.kind=sage", "model.norm=batch", input_dropout}},
      {"sage_with_self", {"model.kind=sage", "model.norm=layer", "model.options={aggregator: meanWithSelf}"}},
      {"sage_gcn", {"model.kind=sage", "model.norm=batch", "model.options={aggregator: gcn}"}},
      {"gat",
       {"model.kind=gat", "model.norm=layer", "model.options={heads: 4, outputHeads: 2}",
        "training.attentionDropout=0.4", input_dropout}},
      {"gcnii", {"model.kind=gcnii", "model.layers=4", "model.norm=layer", input_dropout}},
      {"resgcn_mean", {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: mean}"}},
      {"resgcn_softmax", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: softmax}"}},
      {"sgc", {"model.kind=sgc", input_dropout}},
      {"gin", {"model.kind=gin", "model.norm=layer", "model.options={epsilon: 0.5}", input_dropout}},
      {"sign",
       {"model.kind=sign", "model.norm=layer", "model.options={hops: 2}",
        "training.inputDropout={rate: 0.3, position: afterAggregation}"}},
      {"gin_precomputed", {"model.kind=gin", "model.norm=batch", "model.options={epsilon: -0.3}"}},
  };
}

/// Every model on features stored in other ways, and on arcs with weights and directions: "gcn_bits".
inline std::vector<SmallCase> every_model_on_other_data() {
  std::vector<SmallCase> all;
  for (const SmallCase& each : every_model()) {
    all.push_back({each.name + "_bits", each.fields, kBitData});
    all.push_back({each.name + "_sparse", each.fields, {.density = 0.15}});
    all.push_back({each.name + "_wide", each.fields, {.features = 20}});
    all.push_back({each.name + "_weighted_directed", each.fields, {.weighted = true, .symmetric = false}});
  }
  return all;
}

/// The names in the table, for tests of models with their defaults.
inline std::vector<std::string> every_kind() {
  std::vector<std::string> kinds;
  for (const ModelInfo& info : model_infos()) kinds.push_back(info.kind);
  return kinds;
}

// Every strategy with its options, for tests of devices: each trains every model as on the CPU.

struct StrategyCase {
  std::string name;
  int ranks;
  std::vector<std::string> fields;
};

inline std::vector<StrategyCase> every_strategy() {
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
      {"minibatch_historical",
       2,
       {"strategy.kind=minibatch", "strategy.minibatch={sampler: historical, batchSize: 7, maxAge: 3}"}},
      {"subgraphs", 2, {"strategy.kind=minibatch", "strategy.minibatch={sampler: saintVertex, draws: 25}"}},
      {"dgs", 2, {"strategy.kind=dgs", "strategy.dgs={batchSize: 7, explainEvery: 2, explainEpochs: 3}"}},
      {"p3", 3, {"strategy.kind=p3", "strategy.p3.batchSize=7"}},
      {"p3_wire", 2, {"strategy.kind=p3", "strategy.p3.batchSize=7", "strategy.wire=bfloat16"}},
      {"p3_pipeline", 4, {"strategy.kind=p3", "strategy.p3={batchSize: 7, delay: 3, copies: 2}"}},
  };
}

inline Job job_of(const SmallCase& model, const StrategyCase& strategy) {
  std::vector<std::string> fields = model.fields;
  fields.insert(fields.end(), strategy.fields.begin(), strategy.fields.end());
  fields.push_back("placement.ranks=" + std::to_string(strategy.ranks));
  fields.push_back("training.optimizer={clipNorm: 0.5}");
  for (const std::string kind : {"minibatch", "dgs", "p3"}) {
    if (!strategy.name.starts_with(kind)) continue;
    std::string fanout;
    for (int layers = gathering_layers(small_job(model.fields).model); layers > 0; --layers)
      fanout += fanout.empty() ? "2" : ", 2";
    fields.push_back("strategy." + kind + ".fanout=[" + fanout + "]");
  }
  return small_job(fields);
}

/// In addition to every_model(): other forms of data, losses and metrics.
inline std::vector<SmallCase> other_data() {
  return {{"bits", {}, kBitData},
          {"sparse", {}, {.density = 0.15}},
          {"wide_sparse", {"model.kind=sage"}, {.features = 600, .density = 0.005}},
          {"weighted_directed", {"model.kind=gat"}, {.weighted = true, .symmetric = false}},
          {"several_labels",
           {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
           {.multi_label = true}},
          {"several_labels_by_area",
           {"training.loss=binaryCrossEntropy", "training.metric=rocAuc"},
           {.multi_label = true}},
          {"f1_macro", {"training.metric=f1Macro"}}};
}

// Training on a device whose memory the host can't reach and whose streams are late, compared to the bit with
// training on the host.

inline SmallResult train_far(const Job& job, const std::filesystem::path& dataset, unsigned seed,
                             int epochs) {
  SmallResult result;
  test::run_far_ranks(job.placement.ranks, [&](Communicator& comm) {
    test::FarStream stream(seed + unsigned(comm.rank()));
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, stream);
    SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() == 0) result = std::move(mine);
  });
  return result;
}

inline void expect_same_bits(const SmallResult& far, const SmallResult& near) {
  EXPECT_EQ(far.losses, near.losses);
  EXPECT_EQ(far.validation, near.validation);
  EXPECT_EQ(far.validation_loss, near.validation_loss);
  EXPECT_EQ(far.weights, near.weights);
}

}  // namespace atl
