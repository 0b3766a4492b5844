// Every model with each of its aggregators, dropout and norms on: what must hold under every exchange. A new kind of model is a case
// here, and so part of every test over all models; every_model_test.cc names a kind that has none.
#pragma once

#include <vector>

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
      {"gin_precomputed", {"model.kind=gin", "model.norm=batch", "model.options={epsilon: -0.3}"}},
  };
}

/// Each on features that are stored in other ways, and on arcs with weights and directions: "gcn_bits".
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

/// The names in the table, for tests of models as they are by default.
inline std::vector<std::string> every_kind() {
  std::vector<std::string> kinds;
  for (const ModelInfo& info : model_infos()) kinds.push_back(info.kind);
  return kinds;
}

}  // namespace atl
