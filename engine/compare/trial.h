// Trains with a strategy on a graph to find out how well it learns. Ranks are threads of this process on one
// machine: bytes and steps are the job's, and only time isn't.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"

namespace atl {

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

}  // namespace atl
