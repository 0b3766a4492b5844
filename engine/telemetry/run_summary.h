// The few figures of a run that programs wait for: --json's lines, result.json.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// One line of --json: {"event":"epoch","epoch":…,"loss":…,"validation":… or null,"epochSeconds":…,
/// "bytes":{"intra":…,"inter":…}}. Numbers that aren't finite become null.
std::string epoch_event(const EpochRecord& epoch);
/// The last line of --json: {"event":"result","test":…,"validation":…,"bestEpoch":…,"epochSecondsMedian":…,
/// "startupSeconds":…,"peakMemoryBytes":[per rank],"output":…}.
std::string result_event(const RunRecord& run);

/// A run in under a kilobyte, whatever the number of ranks, as a launcher hands it to the operator: {"outcome":…,
/// "test":…,"validation":…,"bestEpoch":…,"epochs":…,"epochSecondsMedian":…,"startupSeconds":…,"largestPeakMemoryBytes":…}.
std::string result_summary(const RunRecord& run);

}  // namespace atl
