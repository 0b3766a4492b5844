// Ranks that leave. They have exchanged everything, so none of them would miss one that hangs or is paused
// now, and mpirun would wait for it for ever.
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

  /// `patience` runs from the first rank that says that it leaves to the end of the last; 0: without limit.
  explicit Leaving(std::chrono::seconds patience) : patience_(patience) {}

  /// Call it repeatedly. Returns kWorthTelling once, after five seconds, and kOver once, when the patience
  /// ends.
  News look(const std::map<int, RankState>& ranks, Clock::time_point now);

  bool is_over() const { return is_over_; }
  /// The first rank that hadn't ended at the last news; none where only mpirun hadn't.
  const std::optional<LostRank>& first() const { return first_; }
  /// The last news in words: "the run's files are written, but rank 1 on server1 has not ended within 5 s".
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
