// Ranks that leave: all have exchanged all, and nobody is left who could miss one that then hangs or stands
// still. mpirun waits for it for ever.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/mpirun_messages.h"

namespace atl {

class Leaving {
 public:
  using Clock = std::chrono::steady_clock;
  enum class News { kNone, kWorthTelling, kOver };

  /// From the first rank that says that it leaves to the end of the last; 0: for ever.
  explicit Leaving(std::chrono::seconds patience) : patience_(patience) {}

  /// To be called again and again. kWorthTelling once, after five seconds; kOver once, when patience is.
  News look(const std::map<int, RankState>& ranks, Clock::time_point now);

  bool is_over() const { return is_over_; }
  /// The first of those that hadn't ended at the last news; none: mpirun alone hadn't.
  const std::optional<LostRank>& first() const { return first_; }
  /// Since the last news: "the run's files are written, but rank 1 on server1 has not ended within 5 s".
  const std::string& words() const { return words_; }

 private:
  void note(const std::map<int, RankState>& ranks, Clock::time_point now, std::chrono::seconds waited);

  const std::chrono::seconds patience_;
  std::optional<Clock::time_point> since_;
  bool told_ = false, is_over_ = false;
  std::optional<LostRank> first_;
  std::string words_;
};

}  // namespace atl
