// How ranks report to the user. `atoll run`, which sees the terminal, decides it once and passes it to `atoll
// train`.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command/command_line.h"
#include "telemetry/metrics_server.h"

namespace atl {

/// Marks a rank's result on its standard error, for a starter on another machine; a space and
/// result_summary() follow.
inline constexpr const char* kResultMark = "atoll-result:";

/// "json", "quiet", "terminal" or "lines".
std::string chosen_style(const Arguments& arguments, std::FILE* out);

/// Where the `ranks` of one server serve their metrics: "[HOST:]PORT". Throws Error for anything else.
/// `starter`: the process that started them all; they find each other by its id.
MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter);

/// The observer that tells the user of rank 0's run on standard output, in a style.
std::unique_ptr<RunObserver> make_narrator(const std::string& style);

/// All observers of `rank`: on rank 0, progress or JSON, and the files in `output`. With `result_line`, rank
/// 0 writes its result to standard error.
std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line);

}  // namespace atl
