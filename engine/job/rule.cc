#include "job/rule.h"

#include <algorithm>

#include "base/error.h"
#include "job/field.h"
#include "job/strategies.h"

namespace atl {

std::string where_of(const Given& given, const std::string& path) {
  for (std::string at = path;; at = field_parent(at)) {
    if (const auto found = given.find(at); found != given.end()) return found->second;
    if (at.empty()) return "manifest";
  }
}

bool is_wished(const Check& c, const Field& option) {
  return c.has(option.path) && c.job.strategy.options.values().at(option_name(option)) != option.initial;
}

void warn_without_effect(const Check& c, const std::string& path, const std::string& why) {
  const StrategyInfo* strategy = find_strategy(c.job.strategy.kind);
  const auto option = std::ranges::find(strategy->options, path, &Field::path);
  ATOLL_CHECK(option != strategy->options.end(), "{} has no option {}", strategy->kind, path);
  if (is_wished(c, *option)) c.warning(path, "has no effect {}", why);
}

void warn_of_one_rank(const Check& c, const std::string& kind, const std::string& other) {
  if (c.job.strategy.kind == kind && c.job.placement.ranks == 1)
    c.warning("strategy.kind",
              "{} on one rank is {}: nothing is another rank's (use {}, or more placement.ranks)", kind,
              other, other);
}

}  // namespace atl
