// Records as JSON text and back. Only this file knows the keys of metrics.jsonl and run.json.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// One line of metrics.jsonl: the keys of epoch_event() and all else that the record holds.
std::string epoch_line(const EpochRecord& epoch);
/// Throws Error with the key that is missing or of the wrong type.
EpochRecord parse_epoch_line(const std::string& line);

/// run.json: everything but the epochs.
std::string run_document(const RunRecord& run);
/// Throws Error with the key that is missing or of the wrong type.
RunRecord parse_run_document(const std::string& text);

}  // namespace atl
