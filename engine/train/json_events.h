// A run as a program reads it: one JSON object a line, an "epoch" each and last the "result" (--json).
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "train/observer.h"

namespace atl {

/// Writes events to `out`, each line flushed, and messages as text to `err`; both must outlive the observer.
std::unique_ptr<RunObserver> make_json_events(std::FILE* out, std::FILE* err);

/// {"event":"epoch","epoch":…,"loss":…,"validation":… or null,"epochSeconds":…,"bytes":{"intra":…,"inter":…}}
std::string epoch_event(const EpochRecord& epoch);
/// {"event":"result","test":…,"validation":…,"bestEpoch":…,"epochSecondsMedian":…,"startupSeconds":…,
///  "peakMemoryBytes":[per rank],"output":…}
std::string result_event(const RunRecord& run);

}  // namespace atl
