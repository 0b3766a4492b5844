// A job's ranks without running any: what they send is exact, what they compute costs what their kernels' work takes at a machine's rates
// (dry_recording.h).
#pragma once

#include "plan/dry_input.h"
#include "plan/simulate/record.h"

namespace atl {

/// `rates`: of a rank. Takes milliseconds a rank, and memory for the ids of one rank's rows.
Recording record_modelled(DryInputs& inputs, const RecordOptions& options, const MachineRates& rates);

}  // namespace atl
