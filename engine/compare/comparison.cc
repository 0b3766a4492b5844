#include "compare/comparison.h"

#include <algorithm>
#include <cmath>

namespace atl {

std::optional<double> ComparedStrategy::cost() const {
  if (exact) return step_seconds();
  if (!effect || !effect->length || effect->cut_off || !std::isfinite(*effect->length)) return {};
  if (!effect->tried_on.empty()) return step_seconds() * *effect->length;
  return step_seconds() * std::max(1.0, *effect->length);  // less is a seed's luck
}

std::optional<double> ComparedStrategy::cost_above() const {
  if (exact || !effect || !effect->length || !effect->cut_off) return {};
  return step_seconds() * *effect->length;
}

const ComparedStrategy* Comparison::best(bool of_exact_ones) const {
  const ComparedStrategy* best = nullptr;
  for (const ComparedStrategy& each : rows) {
    if (!each.refused.empty() || (of_exact_ones && !each.exact) || !each.cost()) continue;
    if (best == nullptr || *each.cost() < *best->cost()) best = &each;
  }
  return best;
}

const ComparedStrategy* Comparison::plain() const {
  const auto found = std::ranges::find(rows, "graph", &ComparedStrategy::label);
  return found != rows.end() && found->refused.empty() ? &*found : nullptr;
}

}  // namespace atl
