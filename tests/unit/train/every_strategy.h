// Every strategy with what it may be told, for tests of devices: each trains every model as on the CPU.
#pragma once

#include "train/every_model.h"

namespace atl {

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

/// Beside every_model(): data of other forms, losses and metrics.
inline std::vector<SmallCase> other_data() {
  return {{"bits", {}, kBitData},
          {"sparse", {}, {.density = 0.15}},
          {"weighted_directed", {"model.kind=gat"}, {.weighted = true, .symmetric = false}},
          {"several_labels",
           {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
           {.multi_label = true}},
          {"several_labels_by_area",
           {"training.loss=binaryCrossEntropy", "training.metric=rocAuc"},
           {.multi_label = true}},
          {"f1_macro", {"training.metric=f1Macro"}}};
}

}  // namespace atl
