// What a manifest's stages, layers and chunks of a pipeline must have in common with its ranks and its model.
#include <fmt/ranges.h>

#include <numeric>

#include "base/readable.h"
#include "job/models.h"
#include "job/strategies/gnnpipe.h"
#include "job/strategies/ranks_in_cel.h"

namespace atl {
namespace {

std::vector<int> divisors(int number) {
  std::vector<int> found;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) found.push_back(d);
  return found;
}

void stages_of_the_ranks(const Check& c) {
  if (c.job.strategy.kind != "gnnpipe") return;
  const int ranks = c.job.placement.ranks, most = most_stages(c.job);
  const auto stages = int(c.job.strategy.options.integer("stages"));
  const std::string path = "strategy.gnnpipe.stages";
  if (stages > 0 && ranks % stages != 0)
    c.error(path, "{} does not divide placement.ranks {} (use {})", stages, ranks,
            fmt::join(divisors(ranks), " or "));
  else if (stages > most)
    c.error(path, "{} stages for a {} of {} (use at most one a layer)", stages, c.job.model.kind,
            counted_text(most, "layer"));
  else if (stages == 0 && pipeline_layers(c.job).empty() && ranks > 1 && pipeline_grid(c.job).stages == 1)
    c.warning(path, "{} ranks and {} make 1 stage, so nothing is pipelined (use {})", ranks,
              counted_text(most, "layer"),
              most == 1 ? "strategy graph" : fmt::format("ranks with a divisor from 2 to {}", most));
}

void layers_of_the_stages(const Check& c) {
  if (c.job.strategy.kind != "gnnpipe") return;
  const std::vector<int> given = pipeline_layers(c.job);
  if (given.empty()) return;
  const int count = int(given.size()), ranks = c.job.placement.ranks;
  const auto stages = int(c.job.strategy.options.integer("stages"));
  const int sum = std::accumulate(given.begin(), given.end(), 0), all = gathering_layers(c.job.model);
  const std::string path = "strategy.gnnpipe.layers";
  if (stages > 0 && count != stages)
    c.error(path, "has {} for {} (give one number a stage)", counted_text(count, "number"),
            counted_text(stages, "stage"));
  else if (ranks % count != 0)
    c.error(path, "has {}, one a stage, and {} does not divide placement.ranks {} (give {} numbers)",
            counted_text(count, "number"), count, ranks, fmt::join(divisors(ranks), " or "));
  else if (count > 1 && most_stages(c.job) == 1)
    c.error(path, "has {} for a {}, which has one stage (remove the list)", counted_text(count, "number"),
            c.job.model.kind);
  else if (sum != all)
    c.error(path, "sums up to {}, and {} is {} (give numbers that sum up to {})", sum,
            layers_field(c.job.model), all, all);
}

void chunks_for_the_stages(const Check& c) {
  if (c.job.strategy.kind != "gnnpipe") return;
  const auto chunks = int(c.job.strategy.options.integer("chunks"));
  const int stages = pipeline_grid(c.job).stages;
  if (chunks > 0 && chunks < stages)
    c.error("strategy.gnnpipe.chunks",
            "{} chunks for {} stages, some of which would always wait (use {} or more)", chunks, stages,
            stages);
}

/// How many layers there are is the model's to say, and CEL doesn't know it.
Rule stages_of_the_ranks_rule() {
  const std::string stages = "self.strategy.gnnpipe.stages", ranks = kRanksInCel;
  return {stages_of_the_ranks,
          {{"", "strategy.gnnpipe.stages",
            "!has(self.strategy) || !has(self.strategy.gnnpipe) || !has(" + stages + ") || " + stages +
                " == 0 || " + ranks + " % " + stages + " == 0",
            "",
            "'%d does not divide placement.ranks %d (use a number that does)'.format([" + stages + ", " +
                ranks + "])"}}};
}

/// As above: what the layers add up to is the admission rules' to judge, which know models (charts/atoll/templates/_job_policy.tpl).
Rule layers_of_the_stages_rule() {
  const std::string layers = "self.strategy.gnnpipe.layers", ranks = kRanksInCel;
  return {
      layers_of_the_stages,
      {{"", "strategy.gnnpipe.layers",
        "!has(self.strategy) || !has(self.strategy.gnnpipe) || !has(" + layers + ") || " + layers +
            ".size() == 0 || " + ranks + " % " + layers + ".size() == 0",
        "",
        "'has %d numbers, one a stage, and %d does not divide placement.ranks %d (give as many numbers as divide it)'.format([" +
            layers + ".size(), " + layers + ".size(), " + ranks + "])"},
       {"strategy.gnnpipe", "layers",
        "!has(self.layers) || self.layers.size() == 0 || !has(self.stages) || self.stages == 0 || "
        "self.layers.size() == self.stages",
        "",
        "'has %d %s for %d %s (give one number a stage)'.format([self.layers.size(), self.layers.size() == 1 ? 'number' : "
        "'numbers', self.stages, self.stages == 1 ? 'stage' : 'stages'])"}}};
}

Rule chunks_for_the_stages_rule() {
  return {
      chunks_for_the_stages,
      {{"strategy.gnnpipe", "chunks",
        "!has(self.chunks) || !has(self.stages) || self.chunks == 0 || self.chunks >= self.stages", "",
        "'%d chunks for %d stages, some of which would always wait (use %d or more)'.format([self.chunks, "
        "self.stages, self.stages])"}}};
}

}  // namespace

std::vector<Rule> pipeline_rules() {
  return {stages_of_the_ranks_rule(), layers_of_the_stages_rule(), chunks_for_the_stages_rule()};
}

}  // namespace atl
