#include "plan/compare/effects.h"

#include <algorithm>
#include <cmath>

#include "plan/compare/effects_table.h"

namespace atl {
namespace {

/// Twice as many neighbours count as much as twice as many vertices, or features, or as twice the share of vertices that train.
double distance(const SetSize& a, const SetSize& b) {
  const auto apart = [](double x, double y) { return std::abs(std::log(x / y)); };
  const auto of_each = [](Index count, const SetSize& set) {
    return std::max(1.0, double(count)) / std::max(1.0, double(set.vertices));
  };
  return apart(std::max(1.0, double(a.vertices)), std::max(1.0, double(b.vertices))) +
         apart(std::max(1.0, double(a.features)), std::max(1.0, double(b.features))) +
         apart(of_each(a.arcs, a), of_each(b.arcs, b)) +
         apart(of_each(a.training, a), of_each(b.training, b));
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

std::optional<Effect> measured_effect(const std::string& label, const SetSize& like) {
  const MeasuredSet* nearest = nullptr;
  for (const MeasuredSet& set : measured_sets())
    if (find(set, label) != nullptr &&
        (nearest == nullptr || distance(set.size, like) < distance(nearest->size, like)))
      nearest = &set;
  if (nearest == nullptr) return {};
  const MeasuredStrategy& found = *find(*nearest, label);
  return Effect{nearest->name, found.points, found.deviation, found.length};
}

}  // namespace atl
