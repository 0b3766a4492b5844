// A job of more ranks than there is time to record: some of them are, by themselves, and what the others compute costs what laws say that
// are fitted to those, by what each holds. What they send is exact: it follows from sizes (dry_recording.h).
#pragma once

#include <functional>

#include "plan/dry_input.h"
#include "simulate/record.h"

namespace atl {

/// `options.sample` ranks, from the one with least to compute to the one with most. `said` is told of each one's end; may be empty.
Recording record_sample(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const RecordOptions& options, DryInputs& inputs,
                        const std::function<void(Rank)>& said = {});

}  // namespace atl
