#include "comm/silence.h"

#include <fmt/format.h>

namespace atl {

std::string names_of(const Transport& transport, const std::vector<Rank>& ranks) {
  std::string text;
  for (const Rank rank : ranks)
    text += fmt::format("{}rank {} on {}", text.empty() ? "" : ", ", rank, transport.host(rank));
  return text;
}

std::string silence_of(Traffic purpose, std::chrono::milliseconds timeout, const std::string& names) {
  return fmt::format("{} exchange: no message for {:g} s from or to {}", traffic_name(purpose),
                     std::chrono::duration<double>(timeout).count(), names);
}

}  // namespace atl
