// A run as a program reads it (--json): one JSON object a line, an "epoch" each and last the "result";
// record_json.h has their keys.
#pragma once

#include <cstdio>
#include <memory>

#include "telemetry/observer.h"

namespace atl {

/// Writes events to `out`, each line flushed, and messages as text to `err`; both must outlive the observer.
std::unique_ptr<RunObserver> make_json_events(std::FILE* out, std::FILE* err);

}  // namespace atl
