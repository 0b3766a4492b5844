// Compares the strategies that a job could have: what each would take, whether it is exact, its effect on
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

// Predicts a job's epochs on given servers without running any, to choose among strategies.

struct Forecast {
  SimulatedRow row;                      // the figures of one epoch
  Index peak = 0;                        // planned bytes of the rank that needs most
  double steps = 1;                      // optimiser steps of an epoch
  std::optional<Shortfall> shortfall{};  // a shortfall of resources.memory, as a run judges it
  double sent() const { return row.bytes_inside + row.bytes_between; }
};

/// Makes a job's forecast. Messages are exact, or those of batches drawn as in training. Computing is
/// modelled at one rank's `rates` (record.h). With task linkPrediction, the scoring of pairs isn't modelled,
/// and an epoch's seconds are the plan's (job_plan.h). `on_gpus`: as in shortfall_of_resources(). Takes
/// milliseconds per rank and a few drawn batches.
Forecast forecast(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Topology& topology, const MachineRates& rates, int threads, bool on_gpus = false);

/// The topology to assume where none is given: links of `link` bytes per second, with latencies and costs as
/// on the rig (docs/rig.md). `hosts` (ranks): the server of each. `rates` are one rank's.
Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads);

struct ComparedStrategy {
  std::string label;    // as strategies are listed: "granndis:maxHop=0:fanout=-1"
  std::string change;   // change of the manifest to this strategy: "strategy={kind: granndis, …}"
  std::string refused;  // why the job can't have the strategy; "": it can
  bool exact = false;
  Forecast forecast;             // empty where refused
  std::optional<Effect> effect;  // none: the strategy is exact, or nothing is known for the job's task

  double step_seconds() const { return forecast.row.epoch / forecast.steps; }
  /// Whether the number of steps that the strategy needs is known, so that it may be chosen. It is if the
  /// strategy is exact or was tried, or if enough runs of this very strategy are stored.
  bool is_known() const;
  /// A lower bound of the cost if the trial was cut off; otherwise none.
  std::optional<double> cost_above() const;
};

struct Comparison {
  std::string dataset;
  Topology topology;
  bool exact = false;  // the best exact strategy is asked for
  std::vector<ComparedStrategy> rows;
  double trial_seconds = 0;  // seconds of this machine's clock that trials took

  /// The cost of a strategy: seconds until it reaches the accuracy of `graph` less half a point, for each
  /// step that `graph` needs. It is the square of the mean of the square roots of times(). With the plain
  /// mean, one failure in three would outweigh any gain of the other two runs. With the geometric mean, small
  /// gains would outweigh failures. Among stored runs, this mean loses the least against the fastest strategy
  /// (docs/strategies/auto.md). None: the time is unknown, or no run got so far.
  std::optional<double> cost(const ComparedStrategy& row) const;
  /// The seconds that the row would take, for each step of `graph`, if it went as each known run did, by the
  /// predicted seconds of this job's steps. One run that fails stands beside the known ones (Lengths::doubt).
  /// A run that isn't there after three times `graph`'s time is given up then. Without known runs, one of two
  /// gets there.
  std::vector<Weighted> times(const ComparedStrategy& row) const;
  /// The seconds, for each step of `graph`, that a trial of the row saves on average. The trial tells which
  /// of times() is true. The row is then chosen if it is faster than the best other row, and only then.
  double saving(const ComparedStrategy& row) const;

  /// The row of least cost among those that aren't refused, or among the exact ones of these, whose cost is
  /// the seconds of a step. Leaves out the row `besides`. Null: there is none.
  const ComparedStrategy* best(bool of_exact_ones, const ComparedStrategy* besides = nullptr) const;
  /// The row of `graph`; null where it is refused.
  const ComparedStrategy* plain() const;

 private:
  double given_up() const;
};

/// The reason why `best` is the best row, in a sentence or two.
std::string why(const Comparison& comparison, const ComparedStrategy& best);

std::string to_text(const Comparison& comparison);
std::string to_json(const Comparison& comparison);

// Trains with a strategy on a graph to find out how well it learns. Ranks are threads of this process on one
// machine: bytes and steps are those of the job, but times aren't.

/// A model's validation metric after `steps` optimiser steps.
struct TrialPoint {
  std::int64_t steps;
  double validation;
};

inline constexpr double kGoodEnough = 0.005;   // below `graph`'s best validation metric
inline constexpr std::int64_t kFewSteps = 20;  // so few optimiser steps say little

/// The first number of steps after which the metric is at least `wanted`; none: it never is.
std::optional<std::int64_t> reached(const std::vector<TrialPoint>& points, double wanted);

/// Whether training has settled: the metric has risen, and then stayed near its best for as long as it took
/// to get there. Before that, a strategy that learns well at first and less well in the end can't be told
/// from one that learns as `graph` does.
bool is_settled(const std::vector<TrialPoint>& points);

/// When a trial ends, whichever comes first.
struct TrialEnd {
  std::int64_t steps;                                        // optimiser steps
  double wanted = std::numeric_limits<double>::infinity();   // a validation metric that is good enough
  double seconds = std::numeric_limits<double>::infinity();  // by this machine's clock
  bool when_settled = false;                                 // is_settled()
};

struct TrialCurve {
  // Empty if there are no validation vertices, or if no epoch ends in time.
  std::vector<TrialPoint> points;
  bool out_of_time = false;  // the trial ended because its seconds were over
};

/// Trains the job on the CPU with one thread per rank. Evaluates every second epoch, or every epoch if an
/// epoch has several steps. Training also ends if a loss isn't finite. `hosts` (ranks): the server of each.
/// Throws the Error of the first rank that fails, or one that says that a thread can't be started.
TrialCurve train_for(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const std::vector<std::string>& hosts, const TrialEnd& end);

/// Enters a trial's result: the strategy reached the metric after `steps`, or not within the `affordable`
/// steps that it was given (0 if one step takes too long). `graphs`: the steps that `graph` needs.
void enter_trial(ComparedStrategy& row, const std::string& tried_on, std::optional<std::int64_t> steps,
                 std::int64_t affordable, std::int64_t graphs);

/// Enters a trial whose time was over after `trained` steps, without reaching the metric. What is known from
/// other graphs stays if it says that more steps are needed. Otherwise this graph has shown it to be wrong:
/// the trial counts as cut off, and the return value is true.
bool enter_unfinished_trial(const Comparison& comparison, ComparedStrategy& row, const std::string& tried_on,
                            std::int64_t trained, std::int64_t graphs);

}  // namespace atl
