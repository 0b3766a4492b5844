// For whom a rank waits: in words when the time-out is over, and on the board meanwhile.
#include <algorithm>

#include "base/error.h"
#include "comm/progress.h"
#include "comm/silence.h"

namespace atl {

/// What the lanes wait for; several operations may wait for the same.
std::string Progress::missing_ranks() {
  std::string text;
  slots_.for_each_running([&](const Running& running) {
    if (running.pending == nullptr || running.pending->outstanding().empty()) return;
    const std::string line = silence_of(running.operation->purpose, options_.timeout,
                                        names_of(*transport_, running.pending->outstanding()));
    if (text.find(line) == std::string::npos) text += (text.empty() ? "" : "; ") + line;
  });
  return text + kSilenceAdvice;
}

/// Since when a thread has waited without anything moving in the lane that it waits for. Called with the lock held.
Progress::Clock::time_point Progress::silent_since(const Waiter& waiter) const {
  return std::max(waiter.since, moved_[std::size_t(waiter.lane)]);
}

/// Of those who wait, whoever has waited longest without a message; `now` where nobody waits. Called with the lock held.
Progress::Clock::time_point Progress::longest_silence(Clock::time_point now) const {
  for (const Waiter& waiter : waiters_)
    if (waiter.stands) now = std::min(now, silent_since(waiter));
  return now;
}

/// Called with the lock held; once a second while a thread stands waiting. A transfer that goes on is no wait for
/// its peers.
void Progress::tell_wait(Clock::time_point now) {
  const auto since = longest_silence(now);
  next_telling_ = now + kLongWait;
  if (now - since < kLongWait) {
    if (std::exchange(told_, false)) options_.waits->clear();
    return;
  }
  std::vector<Rank> peers;
  slots_.for_each_running([&](const Running& running) {
    if (running.pending == nullptr) return;
    for (const Rank peer : running.pending->outstanding()) peers.push_back(peer);
  });
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  const std::string who = names_of(*transport_, peers);
  options_.waits->enter(std::move(peers), since, who);
  told_ = true;
}

}  // namespace atl
