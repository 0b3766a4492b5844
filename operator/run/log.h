// The operator's log: one line a message on standard error, with the time.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace atl::ctl {

void log_line(const char* level, const std::string& message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line("info", fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line("warning", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace atl::ctl
