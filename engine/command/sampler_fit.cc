// What a job's sampler and its data set must agree on: how many clusters the graph has, and how much of it a
// step draws.
#include "command/job_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "job/samplers.h"
#include "train/rank_data.h"

namespace atl {
namespace {

constexpr Index kRowsOfACluster = 16;  // in a smaller cluster a row has hardly any of its neighbours

std::string option_path(const Job& job, const std::string& option) {
  return "strategy." + job.strategy.kind + "." + option;
}

/// Each part needs a vertex; a sampler's default number of parts may be too large for a small graph.
FieldRemark parts_fault(const Job& job, const DatasetMeta& meta) {
  const int parts = default_parts(job);
  if (parts <= meta.vertices) return {};
  return {
      "placement.partitioner.parts",
      fmt::format(
          "sampler {} divides a graph into {} parts by default, and {} has {} vertices (give {} or fewer)",
          sampler_of(job).name, parts, meta.name, meta.vertices, std::max<Index>(2, meta.vertices / 10))};
}

/// Refuses more draws than add anything: draws with replacement take their time all the same.
FieldRemark draws_fault(const Job& job, const DatasetMeta& meta) {
  const SamplerInfo& sampler = sampler_of(job);
  if (sampler.most_draws == nullptr) return {};
  const std::int64_t most = sampler.most_draws(meta.vertices, meta.arcs);
  const bool by_layer = std::ranges::find(sampler.options, "layerSizes") != sampler.options.end();
  const std::int64_t given = by_layer ? std::ranges::max(layer_sizes(job)) : set_draws(job, meta.vertices);
  if (given <= most) return {};
  return {
      option_path(job, by_layer ? "layerSizes" : "draws"),
      fmt::format(
          "{} draws a step of sampler {} take very long and draw little that fewer don't: {} has {} vertices and {} arcs "
          "(use {} or fewer)",
          given, sampler.name, meta.name, meta.vertices, meta.arcs, most)};
}

/// Doubts a sampler that draws all vertices in every step.
FieldRemark draws_doubt(const Job& job, const DatasetMeta& meta) {
  const std::int64_t draws = set_draws(job, meta.vertices);
  if (sampler_of(job).name != "uniform" || draws <= meta.vertices) return {};
  return {option_path(job, "draws"),
          fmt::format("sampler uniform draws all {} vertices of {} in each step, for {} are no fewer (give a "
                      "smaller number to draw some)",
                      meta.vertices, meta.name, draws)};
}

/// A step that takes all clusters takes the whole graph.
FieldRemark clusters_doubt(const Job& job, const DatasetMeta& meta) {
  if (sampler_of(job).parts == 0) return {};
  const int parts = partition_options(job, job.placement.ranks).parts;
  if (job.strategy.options.integer("merged") >= parts || parts == 1)
    return {
        option_path(job, "merged"),
        fmt::format(
            "every step merges all {} of {}: an epoch is one step of the whole graph, as under strategy graph (give "
            "more placement.partitioner.parts, or fewer clusters a step)",
            counted_text(parts, "cluster"), meta.name)};
  if (meta.vertices >= kRowsOfACluster * parts) return {};
  return {"placement.partitioner.parts",
          fmt::format(
              "{} clusters of {} have {} vertices each, and keep few neighbours together (give {} or fewer)",
              parts, meta.name, meta.vertices / parts, std::max<Index>(2, meta.vertices / kRowsOfACluster))};
}

}  // namespace

FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta) {
  if (!job.strategy.options.has("draws")) return {};
  FieldRemark fault = parts_fault(job, meta);
  return fault.text.empty() ? draws_fault(job, meta) : fault;
}

FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta) {
  if (!job.strategy.options.has("draws")) return {};
  FieldRemark doubt = clusters_doubt(job, meta);
  return doubt.text.empty() ? draws_doubt(job, meta) : doubt;
}

}  // namespace atl
