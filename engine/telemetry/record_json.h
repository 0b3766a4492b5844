// Records as JSON text and back: in the files of a run, and for programs that wait for its few figures. A
// record says itself what its members are called there (base/members.h).
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

// Readers throw Error with the key that is missing or of the wrong type. Numbers that aren't finite are
// written as null.

/// One line of metrics.jsonl.
std::string epoch_line(const EpochRecord& epoch);
EpochRecord parse_epoch_line(const std::string& line);

/// run.json: everything but the epochs.
std::string run_document(const RunRecord& run);
RunRecord parse_run_document(const std::string& text);

/// A rank's explanation, as run.json has it. A vertex or a column is [its number, its mask].
std::string explained_text(const ExplainedFigures& figures);
ExplainedFigures parse_explained(const std::string& text);

/// One line of --json: {"event":"epoch","epoch":…,"loss":…,"validation":… or null,"epochSeconds":…,
/// "bytes":{"intra":…,"inter":…}}.
std::string epoch_event(const EpochRecord& epoch);
/// The last line of --json: {"event":"result","test":…,"testF1Macro":…,"testMajority":…,"validation":…,
/// "bestEpoch":…,"epochSecondsMedian":…,"startupSeconds":…,"peakMemoryBytes":[per rank],"output":…}.
std::string result_event(const RunRecord& run);
/// result.json, a run in under a kilobyte, whatever its number of ranks. The launcher hands it to the
/// operator, too: {"outcome":…,"test":…,"testF1Macro":…,"testMajority":…,"validation":…,"bestEpoch":…,
/// "epochs":…,"epochSecondsMedian":…,"startupSeconds":…,"largestPeakMemoryBytes":…}.
std::string result_summary(const RunRecord& run);

}  // namespace atl
