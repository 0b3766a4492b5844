// Records as JSON text and back: the one place that knows the keys of metrics.jsonl, run.json and --json.
#pragma once

#include <string>

#include "train/telemetry/record.h"

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

/// One line of metrics.jsonl: epoch_event()'s keys and everything else that the record holds.
std::string epoch_line(const EpochRecord& epoch);
/// Throws Error saying what is missing or of the wrong type.
EpochRecord parse_epoch_line(const std::string& line);

/// run.json: everything but the epochs.
std::string run_document(const RunRecord& run);
/// Throws Error saying what is missing or of the wrong type.
RunRecord parse_run_document(const std::string& text);

}  // namespace atl
