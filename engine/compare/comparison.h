// The strategies that a job could have, beside each other: what each would take, whether it is exact, what it does to accuracy, and which is
// the one to choose (strategy.kind: auto).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/effects.h"
#include "compare/forecast.h"

namespace atl {

struct ComparedStrategy {
  std::string label;    // as strategies are listed: "granndis:maxHop=0:fanout=-1"
  std::string change;   // of the manifest, that makes it the job's: "strategy={kind: granndis, …}"
  std::string refused;  // why the job can't have it; "": it can
  bool exact = false;
  Forecast forecast;             // where it can
  std::optional<Effect> effect;  // none: it is exact, or not among the stored effects

  double step_seconds() const { return forecast.row.epoch / forecast.steps; }
  /// Seconds of an optimiser step, times the steps that it needs for each of `graph`'s, at least one; none: unknown, or it never
  /// got there.
  std::optional<double> cost() const;
  /// What it costs more than, of one whose trial was cut off.
  std::optional<double> cost_above() const;
};

struct Comparison {
  std::string dataset;
  Topology topology;
  bool exact = false;  // the best exact one is asked for alone
  std::vector<ComparedStrategy> rows;

  /// The one to choose, of rows that aren't refused: of exact ones the one with the shortest epoch, or of all the one that costs least.
  /// Null: none can be.
  const ComparedStrategy* best(bool of_exact_ones) const;
  /// Of the whole graph's strategies the plain one; null where it is refused.
  const ComparedStrategy* plain() const;
};

/// Why the best one is that, in a sentence or two.
std::string why(const Comparison& comparison, const ComparedStrategy& best);

std::string to_text(const Comparison& comparison);
std::string to_json(const Comparison& comparison);

}  // namespace atl
