// Strategy `minibatch`: each step trains on a few vertices and some of their neighbours (Hamilton et al.
// 2017, "GraphSAGE", algorithm 2), or on what another sampler draws (job/samplers.h). Ranks divide a step's
// vertices among themselves and sum their gradients.

#include <fmt/format.h>

#include "base/text.h"
#include "job/field.h"
#include "job/models.h"
#include "job/rule.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "job/strategies/batch_options.h"

namespace atl {
namespace {

std::vector<Field> cache_options() {
  std::vector<Field> options;
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

Field sums_folder_option() {
  return strategy_option(
      "minibatch", "sumsFolder", std::string(),
      {.type = FieldType::kText,
       .description = "folder in which each rank keeps the sums of sampler none, in a file "
                      "without a name, instead of in memory",
       .default_text = "in memory",
       .may_change = true});
}

std::string no_neighbours_without_sums() {
  return fmt::format(
      "none reads no neighbours, and the model needs them in every step (use model {}, or another sampler)",
      joined(models_that_aggregate_first(), " or "));
}

void neighbours_of_every_step(const Check& c) {
  const ModelInfo* model = find_model(c.job.model.kind);
  if (reads_neighbours(c.job) || model == nullptr) return;
  if (!model->aggregates_first) c.error("strategy.minibatch.sampler", "{}", no_neighbours_without_sums());
}

ServerRule neighbours_of_every_step_rule() {
  return {
      "", "strategy.minibatch.sampler",
      fmt::format(
          "!has(self.strategy) || !has(self.strategy.minibatch) || !has(self.strategy.minibatch.sampler) || "
          "self.strategy.minibatch.sampler != 'none' || (has(self.model) && has(self.model.kind) && "
          "self.model.kind in ['{}'])",
          joined(models_that_aggregate_first(), "', '")),
      no_neighbours_without_sums()};
}

const std::string kWholeRows = "holds whole rows (set it to 0, or strategy.minibatch.featureRate to 1)";

void a_cache_of_whole_rows(const Check& c) {
  if (c.job.strategy.options.number("featureRate") == 1) return;
  if (c.job.strategy.options.integer("cache.bytes") > 0)
    c.error("strategy.minibatch.cache.bytes", "{}", kWholeRows);
}

void options_with_an_effect(const Check& c) {
  if (!reads_neighbours(c.job)) {
    for (const std::string option : {"cache.bytes", "cache.policy", "featureRate", "fill", "gpuFeatures"})
      warn_without_effect(c, "strategy.minibatch." + option, "with sampler none, which fetches nothing");
    if (c.job.resources.gpus > 0)
      warn_without_effect(c, "strategy.minibatch.sumsFolder", "on GPUs, whose memory holds the sums");
    return;
  }
  warn_without_effect(c, "strategy.minibatch.sumsFolder", "without sampler none, which alone keeps sums");
  check_feature_options(c);
  if (c.job.strategy.options.integer("cache.bytes") == 0)
    warn_without_effect(c, "strategy.minibatch.cache.policy", "without a cache (give cache.bytes)");
  else if (c.job.placement.ranks == 1)
    warn_without_effect(c, "strategy.minibatch.cache.bytes", "on one rank: a cache is of other ranks' rows");
}

/// A size may be a quantity of bytes, so CEL compares its text with "0".
ServerRule a_cache_of_whole_rows_rule() {
  return {
      "strategy.minibatch", "cache.bytes",
      "!has(self.featureRate) || double(self.featureRate) == 1.0 || !has(self.cache) || !has(self.cache.bytes) || "
      "string(self.cache.bytes) == '0'",
      kWholeRows};
}

/// All samplers but the first. `historical` needs layers that read other ranks' embeddings, and `none` needs
/// a model whose sums over neighbours all come before anything learned.
std::vector<std::string> minibatch_variants(const Job& job) {
  const bool has_others = job.placement.ranks > 1 && gathering_layers(job.model) > 1;
  const bool sums_once = find_model(job.model.kind)->aggregates_first;
  std::vector<std::string> all;
  for (const SamplerInfo& each : sampler_infos())
    if (each.name != sampler_infos().front().name && (has_others || each.name != "historical") &&
        (sums_once || each.name != "none"))
      all.push_back("sampler=" + each.name);
  return all;
}

}  // namespace

StrategyInfo minibatch_strategy() {
  std::vector<Field> options = sampler_options("minibatch");
  for (Field& each : neighbour_options("minibatch")) options.push_back(std::move(each));
  for (Field& each : making_options("minibatch")) options.push_back(std::move(each));
  for (Field& each : feature_options("minibatch", 1)) options.push_back(std::move(each));
  for (Field& each : cache_options()) options.push_back(std::move(each));
  options.push_back(sums_folder_option());
  Rule sampler = sampler_rule("minibatch", options);
  return {.kind = "minibatch",
          .description = "sampled mini-batches, data parallel",
          .source = "Hamilton et al. 2017",
          .options = std::move(options),
          .also_called = {"neighborsampling", "neighboursampling"},
          .layout = own_parts,
          .traffic = batch_traffic,
          .flows = batch_flows,
          .planned_bytes = bytes_of_first_batches,
          .hides = [](const Options&) { return true; },
          .several_steps = true,
          .several_parts = true,
          .draws_neighbours = draws_some_neighbours,
          .side_threads = batch_threads,
          .variants = minibatch_variants,
          .kept_rows = "historical embeddings",
          .rules = {{check_batch_fanout, {batch_fanout_rule("minibatch")}},
                    std::move(sampler),
                    {neighbours_of_every_step, {neighbours_of_every_step_rule()}},
                    {a_cache_of_whole_rows, {a_cache_of_whole_rows_rule()}},
                    {options_with_an_effect}}};
}

}  // namespace atl
