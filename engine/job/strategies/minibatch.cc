// Strategy `minibatch`: each step trains on a few vertices and on some of their neighbours (Hamilton et al. 2017, "GraphSAGE",
// algorithm 2). Ranks share a step's vertices; gradients are summed.
#include "job/strategies/minibatch.h"

#include <algorithm>

#include "job/models.h"
#include "job/option_field.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

constexpr int kDefaultFanout = 10;

std::vector<Field> drawing_options() {
  const char* source = "Hamilton et al. 2017";
  std::vector<Field> options;
  options.push_back(
      strategy_option("minibatch", "sampler", std::string("neighbour"),
                      {.description = "how the neighbours that a step reads are drawn",
                       .choices = {{"neighbour", "some neighbours of each vertex, layer by layer"}},
                       .source = source}));
  options.push_back(strategy_option(
      "minibatch", "fanout", std::vector<std::int64_t>{},
      {.description = "neighbours drawn of a vertex, by layer, the one nearest to the input first; −1: all",
       .minimum = -1,
       .maximum = 100'000,
       .default_text = "10 for each layer"}));
  options.push_back(strategy_option("minibatch", "replace", false, {.description = "draw with replacement"}));
  options.push_back(strategy_option("minibatch", "batchSize", std::int64_t{1024},
                                    {.description = "training vertices of a step, over all ranks",
                                     .unit = "vertices",
                                     .minimum = 1,
                                     .maximum = 1e9}));
  return options;
}

std::vector<Field> running_options() {
  std::vector<Field> options;
  options.push_back(
      strategy_option("minibatch", "prefetch", std::int64_t{2},
                      {.description = "batches that are made ahead of the one that is trained on",
                       .unit = "batches",
                       .minimum = 1,
                       .maximum = 64,
                       .may_change = true}));
  options.push_back(strategy_option(
      "minibatch", "threads", std::int64_t{0},
      {.description =
           "threads of a rank that make batches, beside those that train and on the same processors",
       .minimum = 0,
       .maximum = 1024,
       .default_text = "a quarter of the rank's threads, at least 1",
       .may_change = true}));
  options.push_back(strategy_option(
      "minibatch", "structure", std::string("partitioned"),
      {.description = "where the arcs to draw from are read",
       .choices = {{"partitioned", "each rank reads its own parts and asks others for theirs"},
                   {"mapped", "each rank reads the whole prepared graph, which lies where all see it"}},
       .may_change = true}));
  options.push_back({.path = "strategy.minibatch.cache",
                     .description = "a cache of other ranks' feature rows",
                     .of_kind = "minibatch"});
  options.push_back(strategy_option("minibatch", "cache.bytes", std::int64_t{0},
                                    {.type = FieldType::kBytes,
                                     .description = "its size on each rank; 0: no cache",
                                     .unit = "bytes",
                                     .minimum = 0,
                                     .may_change = true}));
  options.push_back(
      strategy_option("minibatch", "cache.policy", std::string("degree"),
                      {.description = "which rows it holds",
                       .choices = {{"degree", "rows with the most neighbours"},
                                   {"presampled", "rows that the first steps' batches read most often"},
                                   {"lru", "rows that were read last"}},
                       .may_change = true}));
  return options;
}

/// Batches read what they draw, from any rank: parts have no order that would keep more of it on a server.
Layout own_parts(const Job& job) {
  Layout layout = consecutive_ranks(job);
  layout.ranks_are_alike = false;
  return layout;
}

/// Of one step: what batches fetch isn't known before they are drawn.
EpochTraffic traffic(const Options&, const TrafficShape& shape) {
  return {.gradient = gradient_bytes(shape)};
}

std::vector<PairBytes> flows(const Options&, const TrafficShape& shape, const std::vector<CutRows>&) {
  return gradient_flows(shape);
}

const std::string kNoFanout = "draws 0 neighbours in some layer (use 1 or more, or −1 for all)";

void a_fanout_a_layer(const Check& c) {
  if (c.job.strategy.kind != "minibatch") return;
  const std::vector<int> fanout = minibatch_fanout(c.job);
  const int layers = gathering_layers(c.job.model);
  if (std::ranges::find(fanout, 0) != fanout.end())
    c.error("strategy.minibatch.fanout", "{}", kNoFanout);
  else if (int(fanout.size()) != layers)
    c.error("strategy.minibatch.fanout", "has {} numbers for {} layers (give one for each of {})",
            fanout.size(), layers, layers_field(c.job.model));
}

/// How many layers gather is the model's to say, and CEL doesn't know it.
Rule a_fanout_a_layer_rule() {
  return {a_fanout_a_layer,
          {{"strategy.minibatch", "fanout", "!has(self.fanout) || self.fanout.all(f, f != 0)", kNoFanout}}};
}

}  // namespace

std::vector<int> minibatch_fanout(const Job& job) {
  const std::vector<std::int64_t>& given = job.strategy.options.integers("fanout");
  if (given.empty()) return std::vector<int>(std::size_t(gathering_layers(job.model)), kDefaultFanout);
  return {given.begin(), given.end()};
}

int minibatch_threads(const Job& job, int threads) {
  const auto given = int(job.strategy.options.integer("threads"));
  return given > 0 ? given : std::max(1, threads / 4);
}

StrategyInfo minibatch_strategy() {
  std::vector<Field> options = drawing_options();
  for (Field& each : running_options()) options.push_back(std::move(each));
  return {.kind = "minibatch",
          .description = "sampled mini-batches, data parallel",
          .source = "Hamilton et al. 2017",
          .built = true,
          .options = std::move(options),
          .layout = own_parts,
          .traffic = traffic,
          .flows = flows,
          .hides = [](const Options&) { return true; },
          .several_steps = true,
          .several_parts = true,
          .draws_neighbours =
              [](const Job& job) {
                return std::ranges::any_of(minibatch_fanout(job), [](int each) { return each > 0; });
              },
          .side_threads = minibatch_threads,
          .rules = {a_fanout_a_layer_rule()}};
}

}  // namespace atl
