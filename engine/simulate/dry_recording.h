// A rank's steps and operations from its sizes alone (plan/dry_run.h). Their costs are a model, or there are
// none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "plan/dry_run.h"
#include "simulate/rank_notes.h"
#include "simulate/recording.h"

namespace atl {

/// Records the run's first epochs. Takes milliseconds, and memory for the ids of the rank's rows. A segment
/// takes as long as its kernels would at these rates; null: costs mean nothing.
RankRecording dry_recording(const DryRunInput& input, int epochs, const MachineRates* rates = nullptr);

// Operations of a rank that runs by itself: each finishes at once, and messages arrive without contents.

/// `hosts` (ranks): the server of each. `notes`: notes each operation; outlives the engine. `fills`: whether
/// messages have memory, which is filled with zeros.
std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills);

}  // namespace atl
