// Jobs of strategy `p3`, and of `minibatch` on the same batches.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "job/models.h"
#include "train/every_model.h"

namespace atl {

inline constexpr int kP3Parts = 6;

/// The case with `kind` on so many ranks: two neighbours a layer, six parts by range, 7 training vertices a step. `options` are the
/// strategy's others, as in a manifest's map; `more` further fields.
inline Job batches_of(const std::string& kind, const SmallCase& c, int ranks, const std::string& options = "",
                      std::vector<std::string> more = {}) {
  std::vector<std::string> fields = c.fields;
  std::string fanout;
  for (int layer = gathering_layers(small_job(fields).model); layer > 0; --layer)
    fanout += fanout.empty() ? "2" : ", 2";
  fields.insert(fields.end(), more.begin(), more.end());
  const std::string all = "fanout: [" + fanout + "], batchSize: 7" + (options.empty() ? "" : ", " + options);
  fields.insert(fields.end(), {"strategy={kind: " + kind + ", " + kind + ": {" + all + "}}",
                               fmt::format("placement.partitioner={{kind: range, parts: {}}}", kP3Parts),
                               fmt::format("placement.ranks={}", ranks)});
  return small_job(fields);
}

/// Models of every kind on features that four ranks and more have some columns of each.
inline std::vector<SmallCase> every_model_by_columns() {
  std::vector<SmallCase> all = every_model();
  for (SmallCase& each : all) each.data.features = 11;
  return all;
}

inline const std::string kDroppedBefore = "training.inputDropout={rate: 0.3, position: beforeAggregation}";
inline const std::string kDroppedAfter = "training.inputDropout={rate: 0.3, position: afterAggregation}";

/// What decides how the first layer is computed beside the model's kind: which side is aggregated, and what is dropped out when.
inline std::vector<SmallCase> first_layers() {
  const SmallData data{.features = 11};
  return {{"gcn_aggregates_first", {"model.hidden=16", kDroppedBefore}, data},
          {"gcn_transforms_first", {"model.hidden=2", kDroppedBefore}, data},
          {"gcn_drops_afterwards", {kDroppedAfter}, data},
          {"sage_transforms_first", {"model.kind=sage", "model.hidden=2", kDroppedBefore}, data},
          {"sage_drops_afterwards", {"model.kind=sage", "model.norm=batch", kDroppedAfter}, data},
          {"sgc_drops_afterwards", {"model={kind: sgc, options: {hops: 3}}", kDroppedAfter}, data},
          {"sgc_drops_first", {"model={kind: sgc, options: {hops: 3}}", kDroppedBefore}, data},
          {"one_layer", {"model.layers=1"}, data},
          {"weighted", {"model.norm=layer"}, {.features = 11, .weighted = true}},
          {"directed", {"model.kind=sage"}, {.features = 11, .symmetric = false}},
          {"sparse", {kDroppedBefore}, {.features = 40, .density = 0.1}},
          {"normalised", {"dataset.normaliseFeatures=row"}, data},
          {"inductive", {"model.kind=sage", "training.setting=inductive"}, data},
          {"recomputed", {"model.kind=gat", "training.recompute=layer"}, data},
          {"clipped", {"training.optimizer={clipNorm: 0.1}"}, data}};
}

}  // namespace atl
