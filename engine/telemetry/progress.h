// The progress of a run, as a person at a terminal sees it and as /progress tells it.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/wait_board.h"
#include "telemetry/observer.h"

namespace atl {

enum class ProgressStyle {
  kRedrawn,  // one line that is drawn again each epoch: a terminal
  kLines,    // plain lines, fewer as the run gets longer: a pipe or a log
  kQuiet,    // warnings alone
};

/// kRedrawn where `out` is a terminal, kLines elsewhere, kQuiet when asked for.
ProgressStyle progress_style(std::FILE* out, bool quiet);

/// Shows epoch, loss, validation, epoch time, time left and bytes per epoch. Warnings go to `err`, the rest
/// to `out`; both must outlive the observer. The redrawn line is ended before anything else is written.
std::unique_ptr<RunObserver> make_progress(ProgressStyle style, std::FILE* out, std::FILE* err);

// How far a run is, and how long it will still take. The terminal's line and the /progress page share it.

// The ranks that a server's ranks wait for. The server's ranks tell each other, and /progress tells the
// operator.

/// What is known of one rank.
struct RankWait {
  Rank rank = 0;
  bool answers = true;  // false: the rank has not started, hangs or is gone
  WaitBoard::Wait wait;
};

/// A wait as JSON: {"for":[1,3],"seconds":12.5}.
std::string wait_text(const WaitBoard::Wait& wait);
/// Reads what wait_text() writes; nothing where the text has another form.
std::optional<WaitBoard::Wait> read_wait(const std::string& text);

/// Estimates the seconds until the last epoch ends, from the wall clock since the first report of this start.
/// Evaluation and checkpoints are included, since the user waits for them too.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  /// The seconds left if, at `now`, `epochs` of `all` epochs are done, counting parts of one. None at the
  /// first report, when nothing is measured yet.
  std::optional<double> after(double epochs, Index all, Clock::time_point now);

 private:
  std::optional<double> first_;  // epochs done at the first report
  Clock::time_point then_;       // time of the first report
};

/// What /progress tells of the run. Not thread-safe.
class ProgressState {
 public:
  void start(const RunRecord& run);
  void add(const StepRecord& step);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch) { last_checkpoint_ = epoch; }
  void finish(const RunRecord& run);

  /// {"state":"starting|training|<outcome>","epoch":…,"epochs":…,"step":…,"steps":…,"loss":…,"validation":…,"epochSeconds":…,
  /// "etaSeconds":…,"lastCheckpointEpoch":…,"bytes":{"intra":…,"inter":…},"test":…,"bestEpoch":…,
  /// "ranks":[{"rank":0,"answers":true,"waitingFor":[2],"waitedSeconds":…},{"rank":1,"answers":false},…]};
  /// null: not known yet. `step` and `steps` are of the epoch after `epoch`, where epochs have several steps.
  /// `ranks` are those of this server.
  std::string json(std::span<const RankWait> ranks) const;

 private:
  std::string state_ = "starting";
  Index epochs_ = 0, epoch_ = 0;
  std::optional<Index> step_, steps_;
  std::optional<Index> last_checkpoint_, best_epoch_;
  std::optional<double> loss_, validation_, epoch_seconds_, seconds_left_, test_;
  LinkBytes bytes_;
  TimeLeft time_left_;
};

}  // namespace atl
