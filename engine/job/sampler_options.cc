// The options of samplers: what a manifest may say of a step's draws, and how much a job's step draws.
#include "job/samplers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "job/field.h"
#include "job/models.h"

namespace atl {
namespace {

constexpr std::int64_t kDefaultLayerSize = 1024, kDefaultDraws = 2000;
/// Where a step draws a share α of the vertices, a kept neighbour stands for about 1/α neighbours. With a
/// third of the vertices it stands for 3 or 4.
constexpr std::int64_t kVertexShare = 3, kMostVertices = 100'000;

}  // namespace

std::vector<Field> sampler_options(const std::string& kind) {
  std::vector<Field> options;
  Field sampler{.description = "how the vertices that a step reads are drawn",
                .source = sampler_infos().front().source};
  for (const SamplerInfo& each : sampler_infos())
    sampler.choices.push_back(
        {.name = each.name,
         .meaning = each.source.empty() ? each.description : each.description + " (" + each.source + ")"});
  options.push_back(strategy_option(kind, "sampler", sampler_infos().front().name, std::move(sampler)));
  options.push_back(strategy_option(
      kind, "layerSizes", std::vector<std::int64_t>{},
      {.description = "vertices drawn for each layer over all ranks, the layer nearest to the input first",
       .minimum = 1,
       .maximum = 1e9,
       .default_text = fmt::format("{} for each layer", kDefaultLayerSize)}));
  const auto count = [&](const std::string& name, std::int64_t initial, const std::string& description,
                         const std::string& unit, double maximum) {
    options.push_back(strategy_option(
        kind, name, initial, {.description = description, .unit = unit, .minimum = 1, .maximum = maximum}));
  };
  const auto open = [&](const std::string& name, const std::string& description, const std::string& unit,
                        double maximum, const std::string& by_default) {
    options.push_back(strategy_option(kind, name, std::int64_t{0},
                                      {.description = description,
                                       .unit = unit,
                                       .minimum = 0,
                                       .maximum = maximum,
                                       .default_text = by_default}));
  };
  open("merged", "clusters of a step, over all ranks; the graph's parts are its clusters", "parts", 1e6,
       "a tenth of the graph's parts, rounded up");
  open("draws", "vertices, arcs or walks that a step draws, over all ranks", "draws", 1e9,
       fmt::format("with sampler saintVertex a third of the graph's vertices, at most {}, with others {}",
                   kMostVertices, kDefaultDraws));
  count(
      "historyRows", 1'000'000,
      "vertices of other ranks whose embeddings a rank keeps, those that it reads most; of each layer but the first",
      "vertices", 1e9);
  count("maxAge", 16, "the most that an embedding of another rank may be old when it is read", "steps", 1e6);
  count("delay", 1, "steps from an embedding's push by its owner to its first use", "steps", 64);
  count("walkLength", 2, "how far a walk goes", "arcs", 1000);
  count("coverage", 50,
        "draws of each vertex before training, on average, to learn how likely each vertex and arc is drawn",
        "draws of a vertex", 1000);
  return options;
}

std::vector<std::int64_t> layer_sizes(const Job& job) {
  const auto& given = job.strategy.options.integers("layerSizes");
  if (!given.empty()) return given;
  return std::vector<std::int64_t>(std::size_t(gathering_layers(job.model)), kDefaultLayerSize);
}

std::int64_t set_draws(const Job& job, std::int64_t vertices) {
  if (const auto given = job.strategy.options.integer("draws"); given > 0) return given;
  if (sampler_of(job).name != "saintVertex") return kDefaultDraws;
  return std::clamp<std::int64_t>(vertices / kVertexShare, 1, kMostVertices);
}

}  // namespace atl
