#include "compare/effects.h"

#include <algorithm>
#include <cmath>

namespace atl {
namespace {

constexpr int kMostLike = 3;  // data sets

/// The distance of two data sets. Twice as many neighbours count as much as twice as many vertices, twice as
/// many features, or twice the share of training vertices.
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

/// Drops the option of stages: "gnnpipe:stages=2" was measured as "gnnpipe". Any other option makes another
/// strategy, which has to be measured by itself.
std::string measured_as(const std::string& label) {
  const std::size_t options = label.find(":stages=");
  return options != std::string::npos && options == label.find(':') ? label.substr(0, options) : label;
}

/// Prefers a measurement with parts by hash where `scattered` is true, and there is one.
const MeasuredStrategy* find(const MeasuredSet& set, const std::string& label, bool scattered) {
  const std::string kind = measured_as(label), by_hash = scattered ? kByHash : "";
  for (const std::string& each : {label + by_hash, kind + by_hash, label, kind}) {
    const auto found = std::ranges::find(set.strategies, each, &MeasuredStrategy::label);
    if (found != set.strategies.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

/// Takes the median of several data sets, because one set has few seeds, and their luck isn't the strategy's
/// effect.
std::optional<Effect> measured_effect(const std::string& label, const SetSize& like) {
  std::vector<const MeasuredSet*> sets;
  for (const MeasuredSet& set : measured_sets())
    if (find(set, label, like.scattered) != nullptr) sets.push_back(&set);
  if (sets.empty()) return {};
  std::ranges::stable_sort(sets, {}, [&](const MeasuredSet* set) { return distance(set->size, like); });
  const MeasuredStrategy& nearest = *find(*sets.front(), label, like.scattered);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < std::min(sets.size(), std::size_t(kMostLike)); ++i)
    lengths.push_back(find(*sets[i], label, like.scattered)->length);
  std::ranges::sort(lengths);
  return Effect{.measured_on = sets.front()->name,
                .model = measured_model(),
                .points = nearest.points,
                .deviation = nearest.deviation,
                .pairs = nearest.pairs,
                .visits = nearest.visits,
                .length = lengths[lengths.size() / 2]};
}

}  // namespace atl
