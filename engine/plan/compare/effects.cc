#include "plan/compare/effects.h"

#include <algorithm>
#include <cmath>

#include "plan/compare/effects_table.h"

namespace atl {
namespace {

/// Twice as many neighbours count as much as twice as many vertices, or features.
double distance(const MeasuredSet& set, const DatasetMeta& meta) {
  const auto apart = [](double a, double b) {
    return std::abs(std::log(std::max(a, 1.0) / std::max(b, 1.0)));
  };
  return apart(double(set.vertices), double(meta.vertices)) +
         apart(double(set.features), double(meta.features)) +
         apart(double(set.arcs) / double(set.vertices),
               double(meta.arcs) / double(std::max<Index>(meta.vertices, 1)));
}

/// "gnnpipe:stages=2" was measured as "gnnpipe", if not by itself.
const MeasuredStrategy* find(const MeasuredSet& set, const std::string& label) {
  for (const std::string& each : {label, label.substr(0, label.find(':'))}) {
    const auto found = std::ranges::find(set.strategies, each, &MeasuredStrategy::label);
    if (found != set.strategies.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::optional<Effect> measured_effect(const std::string& label, const DatasetMeta& like) {
  const MeasuredSet* nearest = nullptr;
  for (const MeasuredSet& set : measured_sets())
    if (find(set, label) != nullptr && (nearest == nullptr || distance(set, like) < distance(*nearest, like)))
      nearest = &set;
  if (nearest == nullptr) return {};
  const MeasuredStrategy& found = *find(*nearest, label);
  return Effect{nearest->name, found.points, found.deviation, found.length};
}

}  // namespace atl
