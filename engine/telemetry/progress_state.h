// How far a run is, and how long it will still take: shared by the terminal's line and the /progress page.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/wait_board.h"
#include "telemetry/observer.h"

namespace atl {

// Whom the ranks of a server wait for, as they tell each other and as /progress tells the operator.

/// What is known of one rank.
struct RankWait {
  Rank rank = 0;
  bool answers = true;  // false: it has not started, hangs or is gone
  WaitBoard::Wait wait;
};

/// {"for":[1,3],"seconds":12.5}
std::string wait_text(const WaitBoard::Wait& wait);
/// Nothing where the text isn't that.
std::optional<WaitBoard::Wait> read_wait(const std::string& text);

/// Seconds until the last epoch, from the wall clock since the first report of this start: evaluation and
/// checkpoints included, for that is what is waited for.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  /// So many epochs of `all` are done at `now`, or parts of them. None at the first report: there is nothing
  /// to judge by.
  std::optional<double> after(double epochs, Index all, Clock::time_point now);

 private:
  std::optional<double> first_;  // report: epochs done …
  Clock::time_point then_;       // … and when
};

/// What /progress tells. Not thread-safe.
class ProgressState {
 public:
  void start(const RunRecord& run);
  void add(const StepRecord& step);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch) { last_checkpoint_ = epoch; }
  void finish(const RunRecord& run);

  /// {"state":"starting|training|<outcome>","epoch":…,"epochs":…,"step":…,"steps":…,"loss":…,"validation":…,"epochSeconds":…,
  ///  "etaSeconds":…,"lastCheckpointEpoch":…,"bytes":{"intra":…,"inter":…},"test":…,"bestEpoch":…,
  ///  "ranks":[{"rank":0,"answers":true,"waitingFor":[2],"waitedSeconds":…},{"rank":1,"answers":false},…]};
  ///  null = unknown yet. step, steps: of the epoch after `epoch`, where epochs have several. `ranks` are
  ///  those of this server.
  std::string json(std::span<const RankWait> ranks) const;

 private:
  std::string state_ = "starting";
  Index epochs_ = 0, epoch_ = 0;
  std::optional<Index> step_, steps_;
  std::optional<Index> last_checkpoint_, best_epoch_;
  std::optional<double> loss_, validation_, epoch_seconds_, seconds_left_, test_;
  std::int64_t bytes_intra_ = 0, bytes_inter_ = 0;
  TimeLeft time_left_;
};

}  // namespace atl
