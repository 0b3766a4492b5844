// Trains with a strategy on a graph to find out how well it learns. Ranks are threads of this process on one
// machine: bytes and steps are the job's, and only time isn't.
#pragma once

#include <cstdint>
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

/// Trains the job for `steps` optimiser steps, on the CPU, one thread per rank. Evaluates every second epoch,
/// or every epoch where an epoch has several steps. Ends at the first value of at least `wanted`, or where a
/// loss isn't finite. `hosts` (ranks): the server of each. Empty where there are no validation vertices, or
/// no epoch ends in time.
std::vector<TrialPoint> train_for(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                  const std::vector<std::string>& hosts, std::int64_t steps, double wanted);

/// Enters a trial's result: the strategy reached the metric after `steps`, or not within the `affordable`
/// steps that it was given (0 where one step takes too long). `graphs`: the steps that `graph` needs.
void enter_trial(ComparedStrategy& row, const std::string& tried_on, std::optional<std::int64_t> steps,
                 std::int64_t affordable, std::int64_t graphs);

}  // namespace atl
