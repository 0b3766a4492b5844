// The operator's log: one line per message on standard error, with the time.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "operator/api/json_values.h"

namespace atl::ctl {

/// The lowest level that is logged. kDebug logs what is done about each job.
enum class LogLevel { kDebug, kInfo, kWarning };

inline void log_line(const char* level, const std::string& message) {
  std::string text = message;
  std::ranges::replace(text, '\n', ' ');  // a message may come from elsewhere; keep it on one line
  const auto now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
  const std::string line = fmt::format("{} {} {}\n", text_of(now), level, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

template <class... Args>
void log_debug(LogLevel told, fmt::format_string<Args...> format, Args&&... args) {
  if (told == LogLevel::kDebug) log_line("debug", fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(LogLevel told, fmt::format_string<Args...> format, Args&&... args) {
  if (told <= LogLevel::kInfo) log_line("info", fmt::format(format, std::forward<Args>(args)...));
}
/// Logged at every level.
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line("warning", fmt::format(format, std::forward<Args>(args)...));
}

/// Catches and logs whatever `work` throws. A failure must not end the process, because all other jobs would
/// stand still.
template <class Work>
void survive(const char* what, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    log_warning("{}: {}", what, error.what());
  }
}

}  // namespace atl::ctl
