// The rules of `placement` and `resources`: ranks on servers, servers on topology levels.

#include <fmt/format.h>
#include <algorithm>
#include <span>

#include "base/text.h"
#include "job/rule.h"

namespace atl {
namespace {

/// The divisors of n in words: "1, 2, 4 or 8".
std::string divisors_text(int n) {
  std::vector<int> all;
  for (int d = 1; d <= n; ++d) {
    if (n % d == 0) all.push_back(d);
  }
  if (all.size() == 1) return "1";
  return fmt::format("{} or {}", joined(std::span(all).first(all.size() - 1), ", "), all.back());
}

void whole_servers(const Check& c) {
  const auto& p = c.job.placement;
  if (p.ranks_per_server == 0 || p.ranks % p.ranks_per_server == 0) return;
  c.error("placement.ranksPerServer", "{} does not divide placement.ranks {} (use {})", p.ranks_per_server,
          p.ranks, divisors_text(p.ranks));
}

/// The rule that ranks fill whole servers. CEL can't list the divisors; apart from that its message is the
/// same.
Rule whole_servers_rule() {
  return {whole_servers,
          {{"placement", "ranksPerServer",
            "!has(self.ranksPerServer) || !has(self.ranks) || self.ranksPerServer == 0 || "
            "self.ranks % self.ranksPerServer == 0",
            "",
            "'%d does not divide placement.ranks %d (use one of its divisors)'.format([self.ranksPerServer, "
            "self.ranks])"}}};
}

void a_weight_a_level(const Check& c) {
  const auto& p = c.job.placement;
  if (!c.has("placement.levelWeights") || p.level_weights.size() == p.topology_levels.size()) return;
  c.error("placement.levelWeights", "{} weights for {} topologyLevels (give one for each)",
          p.level_weights.size(), p.topology_levels.size());
}

Rule a_weight_a_level_rule() {
  const std::string levels = "(has(self.topologyLevels) ? size(self.topologyLevels) : 0)";
  return {
      a_weight_a_level,
      {{"placement", "levelWeights", "!has(self.levelWeights) || size(self.levelWeights) == " + levels, "",
        "'%d weights for %d topologyLevels (give one for each)'.format([size(self.levelWeights), " + levels +
            "])"}}};
}

void within_a_level(const Check& c) {
  const auto& p = c.job.placement;
  if (!c.has("placement.within") || std::ranges::find(p.topology_levels, p.within) != p.topology_levels.end())
    return;
  c.error("placement.within", "'{}' is not in placement.topologyLevels (use {})", p.within,
          p.topology_levels.empty() ? "within only with topologyLevels" : joined(p.topology_levels, ", "));
}

Rule within_a_level_rule() {
  return {
      within_a_level,
      {{"placement", "within",
        "!has(self.within) || has(self.topologyLevels) && self.within in self.topologyLevels", "",
        "\"'\" + self.within + \"' is not in placement.topologyLevels (use \" + (has(self.topologyLevels) && "
        "size(self.topologyLevels) > 0 ? self.topologyLevels.join(', ') : 'within only with "
        "topologyLevels') + ')'"}}};
}

}  // namespace

std::vector<Rule> placement_rules() {
  return {whole_servers_rule(), a_weight_a_level_rule(), within_a_level_rule()};
}

}  // namespace atl
