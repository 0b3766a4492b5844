// Sorts what mpirun writes to its standard error. Lines of ranks go through. mpirun's boxes about a lost rank
// and the words of the rank's witness are joined to one fact. A rank that leaves and doesn't end becomes a
// fact too.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/rank_guard.h"

namespace atl {

/// The first rank that ended badly.
struct LostRank {
  int rank = -1;
  std::string host;   // empty where mpirun doesn't say
  int signal = 0;     // signal that ended the rank; 0: it exited by itself
  int exit_code = 0;  // its status, if it exited by itself
};

/// The state of a rank, as the rank and its witness have told it.
struct RankState {
  std::string host;
  std::optional<std::chrono::steady_clock::time_point> left;  // when it last said that it leaves
  bool ended = false;
};

/// Takes the bytes of mpirun's standard error, and passes each line that is for the user to `line`, without
/// newline. If mpirun's own words are among these, a line of ours introduces them.
class MpirunMessages {
 public:
  explicit MpirunMessages(std::function<void(const std::string&)> line) : line_(std::move(line)) {}

  void add(const char* data, std::size_t size);
  /// Call when mpirun was asked to stop: from here on its own words about how it ends, or fails to, are
  /// dropped.
  void stop() { is_stopped_ = true; }
  /// Call at the end of the stream: passes on what is still held back.
  void finish();

  const std::optional<LostRank>& lost() const { return lost_; }
  /// The address of the first host whose daemon mpirun has lost its connection to, before any rank ended
  /// badly; "": none.
  const std::string& lost_host() const { return lost_host_; }
  /// The meaning of the first of mpirun's own messages that we know (launch/mpirun_messages.cc); "" without
  /// one.
  const std::string& trouble() const { return trouble_; }
  /// The first rank that has said that it fails. mpirun says so later, if at all.
  const std::optional<FailedRank>& failed() const { return failed_; }
  /// The ranks that have said that they have started, by number.
  const std::map<int, RankState>& ranks() const { return ranks_; }

 private:
  void end_line();
  void end_box();
  void take_line(const std::string& line);
  void take_news(const RankNews& news);
  void pass_on(const std::string& text, bool from_mpirun);

  std::function<void(const std::string&)> line_;
  std::string current_;  // the line so far
  std::string box_;      // text between two rules of dashes
  bool in_box_ = false;
  std::optional<LostRank> lost_;
  std::string lost_host_, trouble_;
  bool is_stopped_ = false;
  bool was_from_mpirun_ = false;  // whether the last line that was passed on was from mpirun
  std::optional<FailedRank> failed_;
  std::map<int, RankState> ranks_;
};

// Watches ranks that leave. They have exchanged everything, so no rank would miss one that hangs or is paused
// now, and mpirun would wait for it for ever.

class Leaving {
 public:
  using Clock = std::chrono::steady_clock;
  enum class News { kNone, kWorthTelling, kOver };

  /// `patience`: how long ranks may take from the first that says that it leaves to the end of the last; 0:
  /// without limit.
  explicit Leaving(std::chrono::seconds patience) : patience_(patience) {}

  /// Call it repeatedly. Returns kWorthTelling once, when five seconds have passed, and kOver once, when the
  /// patience ends.
  News look(const std::map<int, RankState>& ranks, Clock::time_point now);

  bool is_over() const { return is_over_; }
  /// The first rank that hadn't ended at the last news; none if only mpirun hadn't ended.
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
