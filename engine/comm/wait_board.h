// A board on which a rank writes the ranks that it waits for, where its other threads can read them. The rank
// that all wait for, and that waits for no rank, is the one that hangs. A wait that is longer than a user
// would expect is reported while it lasts.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "comm/ledger.h"
#include "comm/transports.h"

namespace atl {

/// Thread-safe. Only one thread enters waits.
class WaitBoard {
 public:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    std::vector<Rank> peers;  // ascending; empty: no wait, or a wait below Progress::kLongWait
    double seconds = 0;
  };

  /// `notice` is told of the first wait of five seconds, then of the first of ten, of twenty, and so on, so
  /// that a run whose waits are all long prints little. The thread that calls enter() calls `notice`.
  using Notice = std::function<void(const std::string&)>;
  explicit WaitBoard(Notice notice = {}) : notice_(std::move(notice)) {}

  /// `names` names the peers and their hosts, for the notice.
  void enter(std::vector<Rank> peers, Clock::time_point since, const std::string& names = {});
  void clear() { enter({}, {}); }
  Wait read() const;

 private:
  void tell(Clock::duration waited, const std::string& names);

  const Notice notice_;
  std::chrono::seconds worth_telling_{5};  // used by the entering thread only
  mutable std::mutex lock_;
  std::vector<Rank> peers_;
  Clock::time_point since_;
};

inline void WaitBoard::enter(std::vector<Rank> peers, Clock::time_point since, const std::string& names) {
  if (notice_ && !peers.empty()) tell(Clock::now() - since, names);
  const std::lock_guard guard(lock_);
  peers_ = std::move(peers);
  since_ = since;
}

inline void WaitBoard::tell(Clock::duration waited, const std::string& names) {
  if (waited < worth_telling_) return;
  notice_(fmt::format("no message for {} s from or to {}", worth_telling_.count(), names));
  while (worth_telling_ <= waited) worth_telling_ *= 2;
}

inline WaitBoard::Wait WaitBoard::read() const {
  const std::lock_guard guard(lock_);
  if (peers_.empty()) return {};
  return {peers_, std::chrono::duration<double>(Clock::now() - since_).count()};
}

// How messages name a rank from which nothing comes, whichever transport is used.

/// The ranks in words: "rank 1 on server1, rank 3 on server2".
inline std::string names_of(const Transport& transport, const std::vector<Rank>& ranks) {
  std::string text;
  for (const Rank rank : ranks)
    text += fmt::format("{}rank {} on {}", text.empty() ? "" : ", ", rank, transport.host(rank));
  return text;
}

/// The message for an exchange that has waited `timeout` for the ranks `names`.
inline std::string silence_of(Traffic purpose, std::chrono::milliseconds timeout, const std::string& names) {
  return fmt::format("{} exchange: no message for {:g} s from or to {}", traffic_name(purpose),
                     std::chrono::duration<double>(timeout).count(), names);
}
inline constexpr const char* kSilenceAdvice = "; check that it still runs and that its link is up";

}  // namespace atl
