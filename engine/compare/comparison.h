// The strategies that a job could have, beside each other: what each would take, whether it is exact, what it
// does to accuracy, and which is the one to choose (strategy.kind: auto).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/effects.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "simulate/simulation.h"
#include "tensor/rates.h"

namespace atl {

// What a job's epochs would take on servers that are told, without running any: for choosing among
// strategies.

struct Forecast {
  SimulatedRow row;  // of an epoch
  Index peak = 0;    // bytes, of the rank that needs most
  double steps = 1;  // optimiser steps of an epoch
  double sent() const { return row.bytes_inside + row.bytes_between; }
};

/// Messages are exact, or those of batches that are drawn as in training; computing is a model, at `rates` of
/// a rank (record.h). With task linkPrediction, scoring pairs isn't modelled: an epoch is the plan's
/// (job_plan.h). Takes milliseconds a rank and a few drawn batches.
Forecast forecast(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Topology& topology, const MachineRates& rates, int threads);

/// Where nobody has described the servers: joined by links of `link` bytes a second, with latencies and costs
/// as the rig has them (docs/rig.md). `hosts` (ranks): the server of each. `rates`: of a rank.
Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads);

struct ComparedStrategy {
  std::string label;    // as strategies are listed: "granndis:maxHop=0:fanout=-1"
  std::string change;   // of the manifest, that makes it the job's: "strategy={kind: granndis, …}"
  std::string refused;  // why the job can't have it; "": it can
  bool exact = false;
  Forecast forecast;             // where it can
  std::optional<Effect> effect;  // none: it is exact, or not among the stored effects

  double step_seconds() const { return forecast.row.epoch / forecast.steps; }
  /// Seconds of an optimiser step, times the steps that it needs for each step of `graph` (at least one,
  /// unless they were tried for this very job); none: that is unknown, or it never gets as far as `graph`.
  std::optional<double> cost() const;
  /// A lower bound of the cost where the trial was cut off; none elsewhere.
  std::optional<double> cost_above() const;
};

struct Comparison {
  std::string dataset;
  Topology topology;
  bool exact = false;  // only the best exact one is asked for
  std::vector<ComparedStrategy> rows;

  /// The row to choose among those that aren't refused: the one that costs least, among all or among the
  /// exact ones (whose cost is the seconds of a step). Null: there is none.
  const ComparedStrategy* best(bool of_exact_ones) const;
  /// The row of `graph`; null where it is refused.
  const ComparedStrategy* plain() const;
};

/// Why the best one is that, in a sentence or two.
std::string why(const Comparison& comparison, const ComparedStrategy& best);

std::string to_text(const Comparison& comparison);
std::string to_json(const Comparison& comparison);

}  // namespace atl
