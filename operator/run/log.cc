#include "operator/run/log.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "operator/api/json_values.h"

namespace atl::ctl {

void log_line(const char* level, const std::string& message) {
  std::string text = message;
  std::ranges::replace(text, '\n', ' ');  // messages may come from elsewhere: one must not look like two
  const auto now = std::chrono::floor<Seconds>(std::chrono::system_clock::now());
  const std::string line = fmt::format("{} {} {}\n", text_of(now), level, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace atl::ctl
