// How the ranks report to the user: decided once by `atoll run`, which sees the terminal, and told to `atoll
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

/// Before a rank's result on its standard error, for who has started it from afar; a space and
/// result_summary() follow.
inline constexpr const char* kResultMark = "atoll-result:";

/// "json", "quiet", "terminal" or "lines".
std::string chosen_style(const Arguments& arguments, std::FILE* out);

/// Where `ranks`, those of one server, serve their metrics: "[HOST:]PORT". Throws Error where it isn't that.
/// `starter`: the process that has started them all, by whose number they find each other.
MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter);

/// Who tells the user of rank 0's run on standard output, in a style.
std::unique_ptr<RunObserver> make_narrator(const std::string& style);

/// Everybody who watches rank `rank`: on rank 0 progress or JSON and the files in `output`. With
/// `result_line` rank 0 says its result on standard error.
std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line);

}  // namespace atl
