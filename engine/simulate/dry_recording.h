// What a rank does, from its sizes alone: its steps and operations (plan/dry_run.h), with costs that are a
// model, or none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "plan/dry_run.h"
#include "simulate/rank_notes.h"
#include "simulate/recording.h"

namespace atl {

/// The run's first epochs. Takes milliseconds, and memory for the ids of the rank's rows. A segment takes as
/// long as its kernels would at these rates; null: costs mean nothing.
RankRecording dry_recording(const DryRunInput& input, int epochs, const MachineRates* rates = nullptr);

// Operations of a rank that runs by itself: each is through at once, and what has come is empty.

/// `hosts` (ranks): the server of each. `notes`: told of each operation; outlives it. `fills`: whether
/// messages have memory, for zeros.
std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills);

}  // namespace atl
