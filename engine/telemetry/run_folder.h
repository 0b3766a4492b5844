// A run's files in its output folder. metrics.jsonl gets one object per epoch, appended as epochs end.
// run.json holds the rest and is written at the start and at the end. `atoll report` makes report.html from
// the two. result.json has the final figures for programs, as a cluster's operator gets them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "comm/trace.h"
#include "telemetry/observer.h"
#include "telemetry/record.h"

namespace atl {

// Records as JSON text and back. The text is in the files of a run, and goes to programs that wait for its
// few figures. A record itself says what its members are called in JSON (base/members.h). Readers throw Error
// with the key that is missing or of the wrong type. Numbers that aren't finite are written as null.

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
/// result.json: a run in under a kilobyte, whatever its number of ranks. The launcher also hands it to the
/// operator: {"outcome":…,"test":…,"testF1Macro":…,"testMajority":…,"validation":…,"bestEpoch":…,
/// "epochs":…,"epochSecondsMedian":…,"startupSeconds":…,"largestPeakMemoryBytes":…}.
std::string result_summary(const RunRecord& run);

/// An observer that keeps these files up to date. A resumed run drops the epochs after the one that it
/// resumed from, so that its file reads as if the run had never been killed. For rank 0 alone. Errors name
/// the file.
std::unique_ptr<RunObserver> make_run_folder_writer(const std::filesystem::path& folder);

/// The epochs in metrics.jsonl up to and including `last`; nothing after that is read. None without the file.
/// A last line that a kill cut short is left out. Any other line that isn't an epoch throws Error with its
/// number.
std::vector<EpochRecord> read_epochs(const std::filesystem::path& folder, Index last);

/// The whole record of a run, finished or not. Throws Error where `folder` holds no run.
RunRecord read_run(const std::filesystem::path& folder);

// A run as a program reads it (--json): one JSON object per line, an "epoch" for each epoch and the "result"
// last. epoch_event() and result_event() show the keys.

/// Writes events to `out`, each line flushed, and messages as text to `err`; both must outlive the observer.
std::unique_ptr<RunObserver> make_json_events(std::FILE* out, std::FILE* err);

// The trace of a run as a file that chrome://tracing and Perfetto show. Each rank is a process, its
// computation and each of its lanes are threads, and each layer's work, wait or transfer is a span.

/// Gathers every rank's spans since `first_epoch` on rank 0, which writes them on its own clock. Collective;
/// no other message may be under way.
void write_trace(Communicator& comm, const Trace& trace, const std::vector<ClockOffset>& clocks,
                 std::int64_t first_epoch, const std::filesystem::path& path);

}  // namespace atl
