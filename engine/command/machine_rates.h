// What this machine can do, for commands that predict times.
#pragma once

#include "tensor/rates.h"

namespace atl {

/// Of one of `ranks`: the machine's, by as many threads as all have together, shared out among them. Takes two seconds.
MachineRates measured_rates(int ranks, int threads);

}  // namespace atl
