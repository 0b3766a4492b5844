#include "compare/effects.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace atl {
namespace {

constexpr std::size_t kEnough = 3;  // the fewest runs by which a strategy may be chosen
constexpr double kOfOthers = 2;     // what runs with other models and one that fails weigh together

/// The distance of two data sets. Twice as many neighbours per vertex count as much as twice as many
/// vertices, twice as many features, or twice the share of training vertices.
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

/// The label under which a strategy was measured. It has no option of stages: "gnnpipe:stages=2" was measured
/// as "gnnpipe". Any other option makes another strategy, which has to be measured by itself.
std::string measured_as(const std::string& label) {
  const std::size_t options = label.find(":stages=");
  return options != std::string::npos && options == label.find(':') ? label.substr(0, options) : label;
}

std::string kind_of(const std::string& label) {
  return label.substr(0, label.find(':'));
}

/// Finds a strategy's measurement. Prefers one with parts by hash if `scattered` is true and there is one.
const MeasuredStrategy* find(const MeasuredSet& set, const std::string& label, bool scattered) {
  const std::string kind = measured_as(label), by_hash = scattered ? kByHash : "";
  for (const std::string& each : {label + by_hash, kind + by_hash, label, kind}) {
    const auto found = std::ranges::find(set.strategies, each, &MeasuredStrategy::label);
    if (found != set.strategies.end()) return &*found;
  }
  return nullptr;
}

/// The part of a label that two runs must share to count together: measured_as() or only the kind.
using Name = std::string (*)(const std::string& label);

/// The lengths of the runs with this name, and with parts cut this way. Runs with the job's model may be few,
/// and then are luck. Runs with other models say what is likely until there are more. Even if all runs got
/// there, the next may fail, and the fewer runs there are, the likelier that is. So one run that fails stands
/// beside the others.
Lengths named_runs(const std::vector<StoredRuns>& stored, Name name, const std::string& label,
                   const std::string& model, bool scattered) {
  std::vector<double> own, others;
  for (const StoredRuns& each : stored) {
    if (each.scattered != scattered || name(each.label) != name(label)) continue;
    std::vector<double>& runs = each.model == model ? own : others;
    runs.insert(runs.end(), each.lengths.begin(), each.lengths.end());
  }
  Lengths found{.others = others.size(), .doubt = kOfOthers / double(others.size() + 1), .model = model};
  for (const double each : own) found.of_runs.push_back({each});
  for (const double each : others) found.of_runs.push_back({each, found.doubt});
  return found;
}

}  // namespace

/// The data sets of the runs don't matter here. What decides is the model, and how much of a rank's
/// neighbourhood is on other ranks.
Lengths lengths_of(const std::vector<StoredRuns>& stored, const std::string& label, const std::string& model,
                   bool scattered) {
  for (const bool cut : {scattered, !scattered})
    if (Lengths found = named_runs(stored, measured_as, label, model, cut); found.of_runs.size() >= kEnough)
      return found;
  for (const bool cut : {scattered, !scattered})
    if (Lengths found = named_runs(stored, kind_of, label, model, cut); !found.of_runs.empty()) {
      found.guessed = true;
      return found;
    }
  return {};
}

Effect known_effect(const std::string& label, const std::string& model, const SetSize& like) {
  Effect effect{.lengths = lengths_of(stored_runs(), label, model, like.scattered)};
  std::vector<const MeasuredSet*> sets;
  for (const MeasuredSet& set : measured_sets())
    if (find(set, label, like.scattered) != nullptr) sets.push_back(&set);
  if (sets.empty()) return effect;
  const MeasuredSet& nearest = **std::ranges::min_element(sets, {}, [&](const MeasuredSet* set) {
    return std::pair(set->model != model, distance(set->size, like));
  });
  const MeasuredStrategy& measured = *find(nearest, label, like.scattered);
  effect.measured_on = nearest.name, effect.model = nearest.model;
  effect.points = measured.points, effect.deviation = measured.deviation;
  effect.pairs = measured.pairs, effect.visits = measured.visits;
  return effect;
}

}  // namespace atl
