// What of strategy `minibatch` its options leave open.
#pragma once

#include <vector>

#include "job/job.h"

namespace atl {

/// By gathering layer, the one nearest to the input first; −1: all neighbours.
std::vector<int> minibatch_fanout(const Job& job);

/// Of a rank's threads, how many make batches; the others train.
int minibatch_threads(const Job& job, int threads);

}  // namespace atl
