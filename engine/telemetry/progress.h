// A run as a person at a terminal sees it.
#pragma once

#include <cstdio>
#include <memory>

#include "telemetry/observer.h"

namespace atl {

enum class ProgressStyle {
  kRedrawn,  // one line that is drawn again each epoch: a terminal
  kLines,    // plain lines, fewer as the run gets longer: a pipe or a log
  kQuiet,    // warnings alone
};

/// kRedrawn where `out` is a terminal, kLines elsewhere, kQuiet when asked for.
ProgressStyle progress_style(std::FILE* out, bool quiet);

/// Shows epoch, loss, validation, epoch time, time left and bytes per epoch. Warnings go to `err`, the rest
/// to `out`; both must outlive the observer. Ends the redrawn line before anything else is written.
std::unique_ptr<RunObserver> make_progress(ProgressStyle style, std::FILE* out, std::FILE* err);

}  // namespace atl
