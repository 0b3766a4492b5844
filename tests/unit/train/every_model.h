// Every model with each of its aggregators, dropout and norms on: what must hold under every exchange.
#pragma once

#include <vector>

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
  };
}

}  // namespace atl
