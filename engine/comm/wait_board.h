// Whom a rank stands waiting for, written down where its other threads can see it: a rank that is waited for
// by all and waits for nobody is the one that hangs. A wait that is longer than a user would expect is told
// of while it lasts.
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

/// Any thread may call it.
class WaitBoard {
 public:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    std::vector<Rank> peers;  // ascending; none: it works, or waits for less than Progress::kLongWait
    double seconds = 0;
  };

  /// `notice` hears of the first wait of five seconds, of the first of ten, of twenty, and so on, so that a
  /// run whose waits are all long says little; from the thread that enters it.
  using Notice = std::function<void(const std::string&)>;
  explicit WaitBoard(Notice notice = {}) : notice_(std::move(notice)) {}

  /// `names`: the peers' and their hosts', for the notice.
  void enter(std::vector<Rank> peers, Clock::time_point since, const std::string& names = {});
  void clear() { enter({}, {}); }
  Wait read() const;

 private:
  void tell(Clock::duration waited, const std::string& names);

  const Notice notice_;
  std::chrono::seconds worth_telling_{5};  // the entering thread's own
  mutable std::mutex lock_;
  std::vector<Rank> peers_;
  Clock::time_point since_;
};

// The words for a rank from which nothing comes: the same whatever carries messages.

/// "rank 1 on server1, rank 3 on server2"
std::string names_of(const Transport& transport, const std::vector<Rank>& ranks);

/// Of an exchange that has waited so long for these ranks.
std::string silence_of(Traffic purpose, std::chrono::milliseconds timeout, const std::string& names);
inline constexpr const char* kSilenceAdvice = "; check that it still runs and that its link is up";

}  // namespace atl
