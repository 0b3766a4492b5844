// How the ranks report to the user: decided once by `atoll run`, which sees the terminal, and told to `atoll
// train`.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "command/command_line.h"
#include "train/observer.h"

namespace atl {

/// Before a rank's result on its standard error, for who has started it from afar; a space and result_summary() follow.
inline constexpr const char* kResultMark = "atoll-result:";

/// "json", "quiet", "terminal" or "lines".
std::string chosen_style(const Arguments& arguments, std::FILE* out);

/// Throws Error unless make_observers() can take this for `metrics`.
void check_metrics_address(const std::string& metrics);

/// Everybody who watches rank `rank`: on rank 0 progress or JSON and the files in `output`, and a metrics
/// endpoint at `metrics` ("[HOST:]PORT"; empty: none). With `result_line` rank 0 says its result on standard error.
std::unique_ptr<RunObserver> make_observers(const std::string& style, const std::string& metrics,
                                            const std::filesystem::path& output, int rank, bool result_line);

}  // namespace atl
