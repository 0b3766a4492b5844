// Strategies tried before one is chosen (strategy.trial): whether one that isn't exact learns differs from graph to graph, and from model to model, more
// than measurements on other data sets can tell. So those that could win are trained for a while beside `graph`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "command/job_data.h"
#include "compare/comparison.h"

namespace atl {

/// Trains `graph` for `steps` steps on this machine, ranks as threads, and then each row that isn't exact or refused, the cheapest step first,
/// until it gets to graph's best validation metric less half a point, or has taken more time, as predicted, than the best so far. Enters
/// what they need into the rows. `job_of`: the job with such a change (ComparedStrategy::change). A large graph is tried on a part of it,
/// which lies in the data set's folder meanwhile. Says what it does, and where nothing can be tried.
void try_strategies(Comparison& comparison, const Dataset& dataset, std::int64_t steps,
                    const std::function<LoadedJob(const std::string& change)>& job_of, Say say);

}  // namespace atl
