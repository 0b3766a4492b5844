// Which ranks a rank waits for, written down where its other threads can read it. The rank that all wait for,
// and that waits for nobody, is the one that hangs. A wait that is longer than a user would expect is
// reported while it lasts.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
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
    std::vector<Rank> peers;  // ascending; none: no wait, or one below Progress::kLongWait
    double seconds = 0;
  };

  /// `notice` is told of the first wait of five seconds, then of the first of ten, of twenty, and so on, so
  /// that a run whose waits are all long prints little. The thread that calls enter() calls it.
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

// How messages name a rank from which nothing comes, whichever transport is used.

/// "rank 1 on server1, rank 3 on server2"
std::string names_of(const Transport& transport, const std::vector<Rank>& ranks);

/// The message for an exchange that has waited `timeout` for the ranks `names`.
std::string silence_of(Traffic purpose, std::chrono::milliseconds timeout, const std::string& names);
inline constexpr const char* kSilenceAdvice = "; check that it still runs and that its link is up";

}  // namespace atl
