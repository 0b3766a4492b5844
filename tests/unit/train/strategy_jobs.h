// Small jobs of strategies, samplers and link prediction, for tests that run them on ranks as threads.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "job/models.h"
#include "train/every_model.h"
#include "train/small_job.h"

namespace atl {

// Jobs of strategy `dgs` over a small data set.

/// The case on `ranks` with masks that change every four steps, three steps per epoch. `more`: further
/// fields.
inline Job dgs_job(const SmallCase& c, int ranks, std::vector<std::string> more = {}) {
  std::vector<std::string> fields = c.fields;
  std::string list;
  for (int layers = gathering_layers(small_job(fields).model); layers > 0; --layers)
    list += list.empty() ? "2" : ", 2";
  fields.insert(fields.end(), {"strategy.kind=dgs", "strategy.dgs.fanout=[" + list + "]",
                               "strategy.dgs.batchSize=7", "strategy.dgs.explainEvery=4",
                               "strategy.dgs.explainEpochs=5", fmt::format("placement.ranks={}", ranks)});
  fields.insert(fields.end(), more.begin(), more.end());
  return small_job(fields);
}

// Jobs of strategy `granndis` over the small data set, for tests on any number of servers and ranks.

/// `together`: ranks per server. options: "{maxHop: 0, fanout: -1}".
inline Job granndis_job(const std::vector<std::string>& fields, int ranks, int together,
                        const std::string& options, const std::string& partitioner = "metis") {
  std::vector<std::string> all = fields;
  all.insert(all.end(), {"strategy.kind=granndis", "strategy.granndis=" + options,
                         "placement.ranks=" + std::to_string(ranks), "placement.partitioner=" + partitioner,
                         "placement.ranksPerServer=" + std::to_string(together)});
  return small_job(all);
}

// Jobs of strategy `p3`, and of `minibatch` on the same batches.

inline constexpr int kP3Parts = 6;

/// The case with `kind` on so many ranks: two neighbours per layer, six parts by range, 7 training vertices
/// per step. `options`: the strategy's others, as in a manifest's map; `more`: further fields.
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

/// Models of every kind on features of which each of four or more ranks has some columns.
inline std::vector<SmallCase> every_model_by_columns() {
  std::vector<SmallCase> all = every_model();
  for (SmallCase& each : all) each.data.features = 11;
  return all;
}

inline const std::string kDroppedBefore = "training.inputDropout={rate: 0.3, position: beforeAggregation}";
inline const std::string kDroppedAfter = "training.inputDropout={rate: 0.3, position: afterAggregation}";

/// What decides, beside the model's kind, how the first layer is computed: the side that is aggregated, and
/// what is dropped out when.
inline std::vector<SmallCase> first_layers() {
  const SmallData data{.features = 11};
  return {{"gcn_aggregates_first", {"model.hidden=16", kDroppedBefore}, data},
          {"gcn_transforms_first", {"model.hidden=2", kDroppedBefore}, data},
          {"gcn_drops_afterwards", {kDroppedAfter}, data},
          {"sage_transforms_first", {"model.kind=sage", "model.hidden=2", kDroppedBefore}, data},
          {"sage_drops_afterwards", {"model.kind=sage", "model.norm=batch", kDroppedAfter}, data},
          {"sgc_drops_afterwards", {"model={kind: sgc, options: {hops: 3}}", kDroppedAfter}, data},
          {"sgc_drops_first", {"model={kind: sgc, options: {hops: 3}}", kDroppedBefore}, data},
          {"sign_drops_afterwards", {"model={kind: sign, options: {hops: 2}}", kDroppedAfter}, data},
          {"sign_deep",
           {"model={kind: sign, hidden: 8, denseLayers: 1, norm: layer, options: {hops: 2, hopLayers: 2}}",
            kDroppedAfter},
           data},
          {"one_layer", {"model.layers=1"}, data},
          {"weighted", {"model.norm=layer"}, {.features = 11, .weighted = true}},
          {"directed", {"model.kind=sage"}, {.features = 11, .symmetric = false}},
          {"sparse", {kDroppedBefore}, {.features = 40, .density = 0.1}},
          {"normalised", {"dataset.normaliseFeatures=row"}, data},
          {"inductive", {"model.kind=sage", "training.setting=inductive"}, data},
          {"recomputed", {"model.kind=gat", "training.recompute=layer"}, data},
          {"clipped", {"training.optimizer={clipNorm: 0.1}"}, data}};
}

// Small jobs whose samplers draw vertices for a whole step, one job for each such sampler.

/// By sampler: options of minibatch for a graph of 60 vertices, 18 of which train. LAYERS stands for one
/// number per layer of the model.
inline std::map<std::string, std::string> every_sampler() {
  return {{"fastgcn", "sampler: fastgcn, layerSizes: [LAYERS], batchSize: 7"},
          {"ladies", "sampler: ladies, layerSizes: [LAYERS], batchSize: 7"},
          {"cluster", "sampler: cluster, merged: 2"},
          {"saintVertex", "sampler: saintVertex, draws: 25"},
          {"saintEdge", "sampler: saintEdge, draws: 15"},
          {"saintWalk", "sampler: saintWalk, draws: 9, coverage: 20"},
          {"uniform", "sampler: uniform, draws: 25"}};
}

/// A job of such a sampler over six parts.
inline Job sampler_job(std::vector<std::string> fields, std::string options, int ranks) {
  std::string sizes;
  for (int layer = gathering_layers(small_job(fields).model); layer > 0; --layer)
    sizes += sizes.empty() ? "12" : ", 9";
  const auto at = options.find("LAYERS");
  if (at != std::string::npos) options.replace(at, 6, sizes);
  // Fields inside the options' block must come after it.
  fields.insert(fields.begin(), {"strategy.kind=minibatch", "strategy.minibatch={" + options + "}"});
  fields.push_back("placement.partitioner={kind: range, parts: 6}");
  fields.push_back("placement.ranks=" + std::to_string(ranks));
  return small_job(fields);
}

/// A job of sampler `historical`, or of another one, over six parts. `options`: of the sampler, beside what
/// all neighbours of batches of so many vertices are.
inline Job historical_job(std::vector<std::string> fields, int ranks, const std::string& options,
                          const std::string& sampler = "historical", const std::string& fanout = "-1") {
  std::string list;
  for (int layer = gathering_layers(small_job(fields).model); layer > 0; --layer)
    list += (list.empty() ? "" : ", ") + fanout;
  fields.insert(fields.begin(),
                {"strategy.kind=minibatch",
                 "strategy.minibatch={sampler: " + sampler + ", fanout: [" + list + "], " + options + "}"});
  fields.push_back("placement.partitioner={kind: range, parts: 6}");
  fields.push_back("placement.ranks=" + std::to_string(ranks));
  return small_job(fields);
}

// Jobs of link prediction over a small data set.

/// The case with task linkPrediction, and further fields.
inline Job link_job(const SmallCase& c, int ranks, const std::vector<std::string>& more = {}) {
  std::vector<std::string> fields = c.fields;
  fields.insert(fields.end(), more.begin(), more.end());
  fields.insert(fields.end(), {"task=linkPrediction", "placement.ranks=" + std::to_string(ranks)});
  return small_job(fields);
}

/// Every model, with each decoder in turn.
inline std::vector<SmallCase> every_link_model() {
  std::vector<SmallCase> all = every_model();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].data.edges = true;
    all[i].data.labelled = false, all[i].data.split = false;
    all[i].data.arc_share = 0.1;
    if (i % 2 == 0) all[i].fields.push_back("linkPrediction={decoder: mlp, negatives: 2}");
  }
  return all;
}

}  // namespace atl
