// The strategies that a job could have, compared: what each would take, whether it is exact, its effect on
// accuracy, and which to choose (strategy.kind: auto).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compare/effects.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "plan/job_plan.h"
#include "simulate/simulation.h"
#include "tensor/rates.h"

namespace atl {

// A job's epochs predicted for given servers, without running any: for choosing among strategies.

struct Forecast {
  SimulatedRow row;                      // of one epoch
  Index peak = 0;                        // bytes, on the rank that needs most
  double steps = 1;                      // optimiser steps of an epoch
  std::optional<Shortfall> shortfall{};  // of resources.memory, as a run judges it
  double sent() const { return row.bytes_inside + row.bytes_between; }
};

/// Messages are exact, or those of batches drawn as in training. Computing is a model, at one rank's `rates`
/// (record.h). With task linkPrediction, the scoring of pairs isn't modelled, and an epoch's seconds are the
/// plan's (job_plan.h). `on_gpus`: as in shortfall_of_resources(). Takes milliseconds per rank and a few
/// drawn batches.
Forecast forecast(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Topology& topology, const MachineRates& rates, int threads, bool on_gpus = false);

/// The topology to assume where none is given: links of `link` bytes per second, with latencies and costs as
/// on the rig (docs/rig.md). `hosts` (ranks): the server of each. `rates`: one rank's.
Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads);

struct ComparedStrategy {
  std::string label;   // as strategies are listed: "granndis:maxHop=0:fanout=-1"
  std::string change;  // of the manifest, which gives the job this strategy: "strategy={kind: granndis, …}"
  std::string refused;  // why the job can't have the strategy; "": it can
  bool exact = false;
  Forecast forecast;             // empty where refused
  std::optional<Effect> effect;  // none: the strategy is exact, or nothing is known for the job's task

  double step_seconds() const { return forecast.row.epoch / forecast.steps; }
  /// Whether it is known how many steps it needs, so that it may be chosen: it is exact, was tried, or enough
  /// runs of this very strategy are stored.
  bool is_known() const;
  /// A lower bound of the cost where the trial was cut off; else none.
  std::optional<double> cost_above() const;
};

struct Comparison {
  std::string dataset;
  Topology topology;
  bool exact = false;  // the best exact strategy is asked for
  std::vector<ComparedStrategy> rows;
  double trial_seconds = 0;  // what trials took, of this machine's clock

  /// Seconds until the accuracy of `graph` less half a point, for each step that `graph` needs: the square of
  /// the mean of times()' square roots. By the mean of times, one failure in three would outweigh any gain of
  /// the other two; by the geometric mean, small gains would outweigh failures. Among stored runs, this mean
  /// leaves the least behind the fastest strategy (docs/strategies/auto.md). None: how long it takes is
  /// unknown, or no run got so far.
  std::optional<double> cost(const ComparedStrategy& row) const;
  /// The same of each known run, and of the one that fails beside them (Lengths::doubt), by the predicted
  /// seconds of this job's steps. A run that isn't there when three times `graph`'s time is over is given up
  /// then. Of what nothing is known, one of two gets there.
  std::vector<Weighted> times(const ComparedStrategy& row) const;
  /// The same seconds that are saved on average if a trial tells which of times() comes true: the row is then
  /// chosen where it is faster than the best of the others, and only there.
  double saving(const ComparedStrategy& row) const;

  /// The row of least cost among those that aren't refused, or among the exact ones of these (whose cost is
  /// the seconds of a step), without the row `besides`. Null: there is none.
  const ComparedStrategy* best(bool of_exact_ones, const ComparedStrategy* besides = nullptr) const;
  /// The row of `graph`; null where it is refused.
  const ComparedStrategy* plain() const;

 private:
  double given_up() const;
};

/// Why `best` is the best one, in a sentence or two.
std::string why(const Comparison& comparison, const ComparedStrategy& best);

std::string to_text(const Comparison& comparison);
std::string to_json(const Comparison& comparison);

// Trains with a strategy on a graph to find out how well it learns. Ranks are threads of this process on one
// machine: bytes and steps are the job's, and only time isn't.

/// A model's validation metric after so many optimiser steps.
struct TrialPoint {
  std::int64_t steps;
  double validation;
};

inline constexpr double kGoodEnough = 0.005;   // so much below the best validation metric of `graph`
inline constexpr std::int64_t kFewSteps = 20;  // optimiser steps that say little

/// Steps after which the metric is `wanted`; none: it never is.
std::optional<std::int64_t> reached(const std::vector<TrialPoint>& points, double wanted);

/// Whether training has come to its end: the metric has risen, and then stayed near its best for as long as
/// it took to get there. Before that, a strategy that learns well at first and less well in the end can't be
/// told from one that learns as `graph` does.
bool is_settled(const std::vector<TrialPoint>& points);

/// When a trial ends, whichever comes first.
struct TrialEnd {
  std::int64_t steps;                                        // optimiser steps
  double wanted = std::numeric_limits<double>::infinity();   // a validation metric that is good enough
  double seconds = std::numeric_limits<double>::infinity();  // of this machine's clock
  bool when_settled = false;                                 // is_settled()
};

struct TrialCurve {
  // Empty where there are no validation vertices, or no epoch ends in time.
  std::vector<TrialPoint> points;
  bool out_of_time = false;  // it ended by its seconds
};

/// Trains the job, on the CPU, one thread per rank. Evaluates every second epoch, or every epoch where an
/// epoch has several steps. Ends also where a loss isn't finite. `hosts` (ranks): the server of each. Throws
/// the Error of the first rank that fails, or one that says that a thread can't be started.
TrialCurve train_for(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const std::vector<std::string>& hosts, const TrialEnd& end);

/// Enters a trial's result: the strategy reached the metric after `steps`, or not within the `affordable`
/// steps that it was given (0 where one step takes too long). `graphs`: the steps that `graph` needs.
void enter_trial(ComparedStrategy& row, const std::string& tried_on, std::optional<std::int64_t> steps,
                 std::int64_t affordable, std::int64_t graphs);

/// Enters a trial that its time has ended after `trained` steps, of which none reached the metric. What is
/// known from other graphs stays if it says that more steps are needed. Otherwise this graph has shown it to
/// be wrong: the trial counts as cut off, and the return value is true.
bool enter_unfinished_trial(const Comparison& comparison, ComparedStrategy& row, const std::string& tried_on,
                            std::int64_t trained, std::int64_t graphs);

}  // namespace atl
