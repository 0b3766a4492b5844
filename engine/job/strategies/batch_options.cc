#include "job/strategies/batch_options.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "job/field.h"
#include "job/models.h"
#include "job/rule.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

constexpr int kDefaultFanout = 10;
const std::string kNoFanout = "draws 0 neighbours in some layer (use 1 or more, or −1 for all)";

}  // namespace

std::vector<Field> neighbour_options(const std::string& kind) {
  std::vector<Field> options;
  options.push_back(strategy_option(
      kind, "fanout", std::vector<std::int64_t>{},
      {.description =
           "neighbours drawn of a vertex, by layer, the one nearest to the input first, so that [15, 10, 5] is "
           "seed → 5 → 10 → 15: 1 or more, or −1 for all",
       .minimum = -1,
       .maximum = 100'000,
       .default_text = "10 for each layer"}));
  options.push_back(strategy_option(kind, "replace", false, {.description = "draw with replacement"}));
  options.push_back(strategy_option(kind, "batchSize", std::int64_t{1024},
                                    {.description = "training vertices of a step, over all ranks",
                                     .unit = "vertices",
                                     .minimum = 1,
                                     .maximum = 1e9}));
  return options;
}

std::vector<Field> drawing_options(const std::string& kind) {
  std::vector<Field> options{
      strategy_option(kind, "sampler", std::string("neighbour"),
                      {.description = "how the neighbours that a step reads are drawn",
                       .choices = {{"neighbour", "some neighbours of each vertex, layer by layer"}},
                       .source = "Hamilton et al. 2017"})};
  for (Field& each : neighbour_options(kind)) options.push_back(std::move(each));
  return options;
}

std::vector<Field> making_options(const std::string& kind) {
  std::vector<Field> options;
  options.push_back(
      strategy_option(kind, "prefetch", std::int64_t{2},
                      {.description = "batches that are made ahead of the one that is trained on",
                       .unit = "batches",
                       .minimum = 1,
                       .maximum = 64,
                       .may_change = true}));
  options.push_back(strategy_option(
      kind, "threads", std::int64_t{0},
      {.description =
           "threads of a rank that make batches, beside those that train and on the same processors",
       .minimum = 0,
       .maximum = 1024,
       .default_text = "a quarter of the rank's threads, at least 1",
       .may_change = true}));
  options.push_back(strategy_option(
      kind, "structure", std::string("partitioned"),
      {.description = "where the arcs to draw from are read",
       .choices = {{"partitioned", "each rank reads its own parts and asks others for theirs"},
                   {"mapped", "each rank reads the whole prepared graph, which lies where all see it"}},
       .may_change = true}));
  return options;
}

std::vector<int> batch_fanout(const Job& job) {
  if (!reads_neighbours(job)) return {};
  if (!draws_by_vertex(job)) return std::vector<int>(std::size_t(gathering_layers(job.model)), -1);
  const std::vector<std::int64_t>& given = job.strategy.options.integers("fanout");
  if (given.empty()) return std::vector<int>(std::size_t(gathering_layers(job.model)), kDefaultFanout);
  return {given.begin(), given.end()};
}

std::string hops_text(const Job& job) {
  std::string text = "seed";
  const std::vector<int> fanout = batch_fanout(job);
  for (auto each = fanout.rbegin(); each != fanout.rend(); ++each)
    text += *each < 0 ? " → all" : fmt::format(" → {}", *each);
  return text;
}

int batch_threads(const Job& job, int threads) {
  const auto given = int(job.strategy.options.integer("threads"));
  return given > 0 ? given : std::max(1, threads / 4);
}

bool draws_some_neighbours(const Job& job) {
  return std::ranges::any_of(batch_fanout(job), [](int each) { return each > 0; });
}

void check_batch_fanout(const Check& c) {
  const std::string block = "strategy." + c.job.strategy.row->kind + ".", path = block + "fanout";
  const std::vector<int> fanout = batch_fanout(c.job);
  const int layers = gathering_layers(c.job.model);
  if (std::ranges::find(fanout, 0) != fanout.end())
    c.error(path, "{}", kNoFanout);
  else if (int(fanout.size()) != layers && reads_neighbours(c.job))
    c.error(path, "has {} for {} (give one for each of {})",
            counted_text(std::int64_t(fanout.size()), "number"), counted_text(layers, "layer"),
            layers_field(c.job.model));
  else if (std::ranges::all_of(fanout, [](int each) { return each < 0; }) && draws_by_vertex(c.job))
    warn_without_effect(c, block + "replace", "where every layer reads all neighbours");
}

ServerRule batch_fanout_rule(const std::string& kind) {
  return {"strategy." + kind, "fanout", "!has(self.fanout) || self.fanout.all(f, f != 0)", kNoFanout};
}

EpochTraffic batch_traffic(const Options&, const TrafficShape& shape) {
  return {.gradient = gradient_bytes(shape)};
}

std::vector<PairBytes> batch_flows(const Options&, const TrafficShape& shape, const std::vector<CutRows>&) {
  return gradient_flows(shape);
}

PlannedBytes bytes_of_first_batches(const Job&) {
  return PlannedBytes::kOfTheFirst;
}

Layout own_parts(const Job& job) {
  Layout layout = consecutive_ranks(job);
  layout.ranks_are_alike = false;
  return layout;
}

namespace {

constexpr double kRate = 0.85;  // the paper's N_f
// With ten columns, leaving out one at random cost 0.85 points of accuracy (docs/benchmarks/dgs-accuracy.md).
constexpr std::int64_t kFewColumns = 20;

}  // namespace

std::vector<Field> feature_options(const std::string& kind, double initial) {
  const char* source = "DGS, Wan et al. 2022";
  std::vector<Field> options;
  options.push_back(strategy_option(
      kind, "featureRate", initial,
      {.description = "share of the feature columns that is fetched for other ranks' vertices, "
                      "rounded up; 1: all",
       .minimum = 0,
       .maximum = 1,
       .above_minimum = initial > 0,
       .source = source,
       .default_text = initial > 0 ? ""
                                   : fmt::format("{}, or 1 with fewer than {} columns, of which each counts",
                                                 kRate, kFewColumns)}));
  options.push_back(
      strategy_option(kind, "fill", std::string("zero"),
                      {.description = "what stands for the columns that aren't fetched",
                       .choices = {{"zero", "0"}, {"mean", "the column's mean over the rank's own rows"}},
                       .source = source}));
  options.push_back(strategy_option(
      kind, "gpuFeatures", 0.25,
      {.description = "on a GPU, the share of its memory for features of the rank's own vertices; "
                      "it reads the others in the host's memory, as it does all sparse rows of batches",
       .minimum = 0,
       .maximum = 1,
       .may_change = true}));
  return options;
}

double feature_rate(const Job& job, std::int64_t columns) {
  const Options& options = job.strategy.options;
  const double given = options.has("featureRate") ? options.number("featureRate") : 1;
  if (given > 0) return given;
  return columns < kFewColumns ? 1 : kRate;
}

void check_feature_options(const Check& c) {
  const std::string block = "strategy." + c.job.strategy.row->kind + ".";
  const Options& options = c.job.strategy.options;
  const bool all = options.number("featureRate") == 1;
  if (all) warn_without_effect(c, block + "fill", "with featureRate 1: every column is fetched");
  if (c.job.resources.gpus == 0)
    warn_without_effect(c, block + "gpuFeatures", "without resources.nvidia.com/gpu");
  if (c.job.placement.ranks > 1) return;
  for (const char* option : {"featureRate", "fill"})
    if (!all) warn_without_effect(c, block + option, "on one rank, which fetches nothing");
}

}  // namespace atl
