// Small jobs whose steps draw vertices for a whole step, one for each such sampler.
#pragma once

#include <map>

#include "job/models.h"
#include "train/small_job.h"

namespace atl {

/// By sampler: options of minibatch for a graph of 60 vertices, 18 of which train. LAYERS are as many numbers as the model has layers.
inline std::map<std::string, std::string> every_sampler() {
  return {{"fastgcn", "sampler: fastgcn, layerSizes: [LAYERS], batchSize: 7"},
          {"ladies", "sampler: ladies, layerSizes: [LAYERS], batchSize: 7"},
          {"cluster", "sampler: cluster, merged: 2"},
          {"saintVertex", "sampler: saintVertex, draws: 25"},
          {"saintEdge", "sampler: saintEdge, draws: 15"},
          {"saintWalk", "sampler: saintWalk, draws: 9, coverage: 20"},
          {"uniform", "sampler: uniform, draws: 25"}};
}

/// Over six parts.
inline Job sampler_job(std::vector<std::string> fields, std::string options, int ranks) {
  std::string sizes;
  for (int layer = gathering_layers(small_job(fields).model); layer > 0; --layer)
    sizes += sizes.empty() ? "12" : ", 9";
  const auto at = options.find("LAYERS");
  if (at != std::string::npos) options.replace(at, 6, sizes);
  // Fields that stand in the options' block come after it.
  fields.insert(fields.begin(), {"strategy.kind=minibatch", "strategy.minibatch={" + options + "}"});
  fields.push_back("placement.partitioner={kind: range, parts: 6}");
  fields.push_back("placement.ranks=" + std::to_string(ranks));
  return small_job(fields);
}

}  // namespace atl
