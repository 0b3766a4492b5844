// The rules between a manifest's stages, layers and chunks of a pipeline and its ranks and model.

#include <fmt/format.h>
#include <numeric>

#include "base/text.h"
#include "job/models.h"
#include "job/rule.h"
#include "strategies/gnnpipe/info.h"

namespace atl {
namespace {

std::vector<int> divisors(int number) {
  std::vector<int> found;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) found.push_back(d);
  return found;
}

void stages_of_the_ranks(const Check& c) {
  const int ranks = c.job.placement.ranks, most = most_stages(c.job);
  const auto stages = int(c.job.strategy.options.integer("stages"));
  const std::string path = "strategy.gnnpipe.stages";
  if (stages > 0 && ranks % stages != 0)
    c.error(path, "{} does not divide placement.ranks {} (use {})", stages, ranks,
            joined(divisors(ranks), " or "));
  else if (stages > most)
    c.error(path, "{} stages for a {} of {} (use at most one a layer)", stages, c.job.model.kind,
            counted_text(most, "layer"));
  else if (stages == 0 && pipeline_layers(c.job).empty() && ranks > 1 && pipeline_grid(c.job).stages == 1)
    c.warning(path, "{} ranks and {} make 1 stage, so nothing is pipelined (use {})", ranks,
              counted_text(most, "layer"),
              most == 1 ? "strategy graph" : fmt::format("ranks with a divisor from 2 to {}", most));
}

/// The numbers of 1 … most that fit: "2 or 6"; "" without any.
template <class Fits>
std::string those_that_fit(int most, const Fits& fits) {
  std::vector<int> all;
  for (int each = 1; each <= most; ++each)
    if (fits(each)) all.push_back(each);
  return joined(all, " or ");
}

std::string stages_that_fit(const PlacementSpec& p, int most) {
  return those_that_fit(std::min(p.ranks, most),
                        [&](int s) { return p.ranks % s == 0 && stages_share_servers(p, s); });
}

/// Reports that no number of stages fits, where the manifest doesn't give one.
void no_stages_inside_servers(const Check& c) {
  const int most = most_stages(c.job);
  PlacementSpec p = c.job.placement;
  const std::string servers = those_that_fit(p.ranks, [&](int s) {
    p.ranks_per_server = s;
    return p.ranks % s == 0 && !stages_that_fit(p, most).empty();
  });
  c.error(
      "strategy.gnnpipe.stages",
      "{} and {} make no stages each of which has its ranks on one server, and the ranks of a stage exchange "
      "rows in every layer: placement.ranksPerServer is {} (use strategy granndis or graph, or ranksPerServer {})",
      counted_text(p.ranks, "rank"), counted_text(most, "layer"), c.job.placement.ranks_per_server, servers);
}

/// A stage's ranks exchange rows in every layer. A pipeline keeps such traffic off the links between servers.
void stages_inside_servers(const Check& c) {
  const PlacementSpec& p = c.job.placement;
  const int stages = pipeline_grid(c.job).stages, most = most_stages(c.job);
  const auto given = int(c.job.strategy.options.integer("stages"));
  const bool other_faults = p.ranks_per_server == 0 || p.ranks % p.ranks_per_server != 0 ||
                            (given > 0 && given != stages) || stages > most;
  if (other_faults || stages_share_servers(p, stages)) return;
  if (given == 0 && !c.has("strategy.gnnpipe.layers")) return no_stages_inside_servers(c);
  const int each = p.ranks / stages;
  const std::string others = stages_that_fit(p, most);
  const std::string servers =
      those_that_fit(p.ranks, [&](int s) { return p.ranks % s == 0 && s % each == 0; });
  c.error(c.has("strategy.gnnpipe.layers") ? "strategy.gnnpipe.layers" : "strategy.gnnpipe.stages",
          "{} of {} would lie on several servers, and the ranks of a stage exchange rows in every layer: "
          "placement.ranksPerServer is {} (use {}ranksPerServer {})",
          counted_text(stages, "stage"), counted_text(each, "rank"), p.ranks_per_server,
          others.empty() ? "strategy granndis or graph, or " : fmt::format("{} stages, or ", others),
          servers);
}

void layers_of_the_stages(const Check& c) {
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
            counted_text(count, "number"), count, ranks, joined(divisors(ranks), " or "));
  else if (count > 1 && most_stages(c.job) == 1)
    c.error(path, "has {} for a {}, which has one stage (remove the list)", counted_text(count, "number"),
            c.job.model.kind);
  else if (sum != all)
    c.error(path, "sums up to {}, and {} is {} (give numbers that sum up to {})", sum,
            layers_field(c.job.model), all, all);
}

void chunks_for_the_stages(const Check& c) {
  const auto chunks = int(c.job.strategy.options.integer("chunks"));
  const int stages = pipeline_grid(c.job).stages;
  if (chunks > 0 && chunks < stages)
    c.error("strategy.gnnpipe.chunks",
            "{} chunks for {} stages, some of which would always wait (use {} or more)", chunks, stages,
            stages);
}

/// A single chunk reads no rows of an earlier epoch, so options of the history do nothing.
void options_of_the_history(const Check& c) {
  const std::string block = "strategy.gnnpipe.";
  if (c.job.strategy.options.flag("scaleHistoricalGradient"))
    c.warning(block + "scaleHistoricalGradient",
              "doubles gradients that are right as they are: 28 points of accuracy where it was measured, "
              "docs/benchmarks/gnnpipe-ablation.md (use false)");
  if (pipeline_chunks(c.job) > 1) return;
  for (const char* option : {"shuffle", "historicalGradients", "historyRefresh", "refreshAfterFirstEpoch"})
    warn_without_effect(c, block + option, "with one chunk, which reads no rows of an earlier epoch");
}

/// CEL compares stages with ranks alone, because it doesn't know the model's number of layers.
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

/// The admission rules, which know models, check what the layers add up to
/// (charts/atoll/templates/_job_policy.tpl).
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

/// stages_inside_servers() in CEL, for a field that gives the number `stages`, unless `gives_none` is true.
ServerRule given_stages_inside_servers(const std::string& field, const std::string& stages,
                                       const std::string& gives_none) {
  const std::string block = "self.strategy.gnnpipe.", ranks = kRanksInCel,
                    together = "self.placement.ranksPerServer";
  return {
      "", "strategy.gnnpipe." + field,
      "!has(self.strategy) || !has(self.strategy.gnnpipe) || !has(" + block + field + ") || " + gives_none +
          " || " + ranks + " % " + stages + " != 0 || !has(self.placement) || !has(" + together + ") || " +
          together + " == 0 || " + together + " % (" + ranks + " / " + stages + ") == 0",
      "",
      "'%d %s of %d %s would lie on several servers, and the ranks of a stage exchange rows in every layer: "
      "placement.ranksPerServer is %d (use stages whose ranks fit one server)'.format([" +
          stages + ", " + stages + " == 1 ? 'stage' : 'stages', " + ranks + " / " + stages + ", " + ranks +
          " / " + stages + " == 1 ? 'rank' : 'ranks', " + together + "])"};
}

/// Where the manifest doesn't give the stages, the chart's policy reports that none fit.
Rule stages_inside_servers_rule() {
  const std::string stages = "self.strategy.gnnpipe.stages", layers = "self.strategy.gnnpipe.layers";
  return {
      stages_inside_servers,
      {given_stages_inside_servers("stages", stages, stages + " == 0"),
       given_stages_inside_servers("layers", layers + ".size()",
                                   layers + ".size() == 0 || (has(" + stages + ") && " + stages + " != 0)")}};
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
  return {stages_of_the_ranks_rule(),
          layers_of_the_stages_rule(),
          stages_inside_servers_rule(),
          chunks_for_the_stages_rule(),
          {options_of_the_history}};
}

}  // namespace atl
