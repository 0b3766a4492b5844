#include "comm/wait_board.h"

#include <fmt/format.h>
#include <utility>

namespace atl {

void WaitBoard::enter(std::vector<Rank> peers, Clock::time_point since, const std::string& names) {
  if (notice_ && !peers.empty()) tell(Clock::now() - since, names);
  const std::lock_guard guard(lock_);
  peers_ = std::move(peers);
  since_ = since;
}

void WaitBoard::tell(Clock::duration waited, const std::string& names) {
  if (waited < worth_telling_) return;
  notice_(fmt::format("no message for {} s from or to {}", worth_telling_.count(), names));
  while (worth_telling_ <= waited) worth_telling_ *= 2;
}

WaitBoard::Wait WaitBoard::read() const {
  const std::lock_guard guard(lock_);
  if (peers_.empty()) return {};
  return {peers_, std::chrono::duration<double>(Clock::now() - since_).count()};
}

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
