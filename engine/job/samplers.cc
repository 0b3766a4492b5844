#include "job/samplers.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "job/field.h"
#include "job/models.h"
#include "job/rule.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// The default number of clusters. With fewer clusters in the graph, or fewer per step, steps leave out too
/// many arcs and are too much alike (docs/strategies/samplers.md).
constexpr int kClusters = 160;

bool reads(const SamplerInfo& sampler, const std::string& option) {
  return std::ranges::find(sampler.options, option) != sampler.options.end();
}

std::vector<std::string> readers_of(const std::string& option) {
  std::vector<std::string> names;
  for (const SamplerInfo& each : sampler_infos())
    if (reads(each, option)) names.push_back(each.name);
  return names;
}

/// The condition in CEL that an option has its default value.
std::string says_nothing(const Field& option) {
  if (std::holds_alternative<std::vector<std::int64_t>>(*option.initial)) return ".size() == 0";
  // A number's default may be words.
  const auto* number = std::get_if<std::int64_t>(&*option.initial);
  return " == " + (number ? std::to_string(*number) : default_of(option));
}

void a_size_a_layer(const Check& c, const std::string& path) {
  const auto& given = c.job.strategy.options.integers("layerSizes");
  const int layers = gathering_layers(c.job.model);
  if (!given.empty() && int(given.size()) != layers)
    c.error(path + "layerSizes", "has {} for {} (give one for each of {})",
            counted_text(std::int64_t(given.size()), "number"), counted_text(layers, "layer"),
            layers_field(c.job.model));
}

/// Clusters are parts, so no more of them can be merged than there are parts.
void parts_to_merge(const Check& c, const std::string& path) {
  const auto merged = c.job.strategy.options.integer("merged");
  const int given = c.job.placement.partitioner.parts;
  const int parts = std::max(given == 0 ? kClusters : given, c.job.placement.ranks);
  if (merged > parts)
    c.error(
        path + "merged",
        "{} clusters a step, and the graph has {} (they are its parts: set placement.partitioner.parts, for "
        "example to {})",
        merged, parts, 10 * merged);
}

const std::string kCountsAtTheOwners =
    "how often arcs are drawn together is known where their rows are owned (use structure: partitioned)";

void counts_at_the_owners(const Check& c, const std::string& path) {
  if (c.job.strategy.options.text("structure") == "mapped")
    c.error(path + "structure", "mapped doesn't go with sampler saintWalk: {}", kCountsAtTheOwners);
}

const std::string kTooOldToUse =
    "is above maxAge: every row would be too old before it is there (use maxAge or less)";

void ages_to_be_used(const Check& c, const std::string& path) {
  const Options& options = c.job.strategy.options;
  const auto delay = options.integer("delay");
  if (delay > options.integer("maxAge")) c.error(path + "delay", "{} {}", delay, kTooOldToUse);
  if (reads_history(c.job)) return;
  c.warning(path + "sampler",
            "historical on {} is neighbour: no embedding is another rank's (use neighbour, or more {})",
            c.job.placement.ranks == 1 ? "one rank" : "one layer that gathers",
            c.job.placement.ranks == 1 ? "ranks" : "layers");
}

constexpr const char* kNone = "none";

/// The most draws of vertices per step. Draws are with replacement: sixteen per vertex miss one vertex in
/// nine million if all are equally likely. A small graph's draws are quick anyway.
std::int64_t of_vertices(std::int64_t vertices, std::int64_t) {
  constexpr std::int64_t kEach = 16, kSoonDone = 100'000;
  return std::max(kSoonDone, kEach * vertices);
}
std::int64_t of_arcs(std::int64_t vertices, std::int64_t arcs) {
  return std::max(arcs, of_vertices(vertices, arcs));
}

}  // namespace

const std::vector<SamplerInfo>& sampler_infos() {
  static const std::vector<SamplerInfo> all{
      {"neighbour",
       "some neighbours of each vertex, layer by layer",
       "Hamilton et al. 2017",
       {"fanout", "replace", "batchSize"}},
      {"historical",
       "as neighbour among a rank's own vertices; inner layers read other ranks' embeddings of earlier steps",
       "DistGNN-MB, Vasimuddin et al. 2022",
       {"fanout", "replace", "batchSize", "historyRows", "maxAge", "delay"},
       ages_to_be_used},
      {"fastgcn",
       "vertices for each layer, by how much the whole graph reads them",
       "Chen et al. 2018",
       {"batchSize", "layerSizes"},
       a_size_a_layer,
       of_vertices},
      {"ladies",
       "vertices for each layer, by how much the rows that a step computes read them",
       "Zou et al. 2019",
       {"batchSize", "layerSizes"},
       a_size_a_layer},
      {"cluster",
       "some parts of the graph, and all arcs within and between them",
       "Chiang et al. 2019",
       {"merged"},
       parts_to_merge,
       nullptr,
       {{"placement.partitioner.objective", "cut", "Chiang et al. 2019"}},
       kClusters},
      {"saintVertex",
       "vertices, by how much the whole graph reads them, and the arcs between them",
       "Zeng et al. 2020",
       {"draws"},
       nullptr,
       of_vertices},
      {"saintEdge",
       "arcs, their ends, and all arcs between these",
       "Zeng et al. 2020",
       {"draws"},
       nullptr,
       of_arcs},
      {"saintWalk",
       "the vertices of random walks, and the arcs between them",
       "Zeng et al. 2020",
       {"draws", "walkLength", "coverage"},
       counts_at_the_owners,
       of_vertices},
      {"uniform", "vertices, each as likely, and the arcs between them", "", {"draws"}},
      {kNone,
       "no neighbours: for models that sum over neighbours once, before training",
       "Frasca et al. 2020",
       {"batchSize"}},
  };
  return all;
}

const SamplerInfo* find_sampler(const std::string& name) {
  const auto& all = sampler_infos();
  const auto found = std::ranges::find(all, name, &SamplerInfo::name);
  return found == all.end() ? nullptr : &*found;
}

const SamplerInfo& sampler_of(const Job& job) {
  const Options& options = job.strategy.options;
  const std::string& name = options.has("sampler") ? options.text("sampler") : sampler_infos().front().name;
  const SamplerInfo* found = find_sampler(name);
  ATOLL_CHECK(found != nullptr, "no sampler {}", name);
  return *found;
}

bool draws_by_vertex(const Job& job) {
  return reads(sampler_of(job), "fanout");
}

bool reads_neighbours(const Job& job) {
  return sampler_of(job).name != kNone;
}

std::string sums_folder(const Job& job) {
  const bool keeps = job.strategy.options.has("sumsFolder") && !reads_neighbours(job);
  return keeps && job.resources.gpus == 0 ? job.strategy.options.text("sumsFolder") : "";
}

void move_sums(Job& job, const std::string& folder) {
  if (!sums_folder(job).empty()) job.strategy.options.set("sumsFolder", folder);
}

int default_parts(const Job& job) {
  return job.placement.partitioner.parts > 0 ? 0 : sampler_of(job).parts;
}

bool reads_history(const Job& job) {
  return reads(sampler_of(job), "historyRows") && job.placement.ranks > 1 && gathering_layers(job.model) > 1;
}

namespace {

void check_sampler(const Check& c) {
  const StrategyInfo& strategy = *c.job.strategy.row;
  const SamplerInfo& sampler = sampler_of(c.job);
  for (const Field& option : strategy.options) {
    const std::string name = option_name(option);
    if (readers_of(name).empty() || reads(sampler, name) || !is_wished(c, option)) continue;
    c.error(option.path, "is not read by sampler {} (leave it out, or use sampler: {})", sampler.name,
            joined(readers_of(name), " or "));
  }
  if (sampler.check != nullptr) sampler.check(c, "strategy." + strategy.kind + ".");
}

}  // namespace

Rule sampler_rule(const std::string& kind, const std::vector<Field>& options) {
  Rule rule{check_sampler};
  for (const Field& option : options) {
    const std::string name = option_name(option);
    const std::vector<std::string> readers = readers_of(name);
    if (readers.empty()) continue;
    const std::string& first = sampler_infos().front().name;
    const bool by_default = readers.front() == first;
    const std::string read =
        fmt::format("{}has(self.sampler) {} self.sampler in ['{}']", by_default ? "!" : "",
                    by_default ? "||" : "&&", joined(readers, "', '"));
    rule.server.push_back(
        {"strategy." + kind, name,
         fmt::format("!has(self.{0}) || self.{0}{1} || ({2})", name, says_nothing(option), read), "",
         fmt::format(
             "'is not read by sampler %s (leave it out, or use sampler: {})'.format([has(self.sampler) ? "
             "self.sampler : '{}'])",
             joined(readers, " or "), first)});
  }
  rule.server.push_back(
      {"strategy." + kind, "delay",
       "(has(self.delay) ? self.delay : 1) <= (has(self.maxAge) ? self.maxAge : 16) || !has(self.sampler) || "
       "self.sampler != 'historical'",
       "", "'%d " + kTooOldToUse + "'.format([has(self.delay) ? self.delay : 1])"});
  rule.server.push_back({"strategy." + kind, "structure",
                         "!has(self.structure) || self.structure != 'mapped' || !has(self.sampler) || "
                         "self.sampler != 'saintWalk'",
                         "mapped doesn't go with sampler saintWalk: " + kCountsAtTheOwners});
  return rule;
}

}  // namespace atl
