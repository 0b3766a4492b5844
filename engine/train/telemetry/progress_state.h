// How far a run is, and how long it will still take: shared by the terminal's line and the /progress page.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "train/telemetry/rank_waits.h"
#include "train/telemetry/record.h"

namespace atl {

/// Seconds until the last epoch, from the wall clock since the first one of this start ended: evaluation and
/// checkpoints included, for that is what is waited for.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  /// An epoch ended at `now`; `remaining` are to come. None after the first one: there is nothing to judge
  /// by.
  std::optional<double> after_epoch(Index remaining, Clock::time_point now);

 private:
  Index epochs_ = 0;
  Clock::time_point first_end_;
};

/// What /progress tells. Not thread-safe.
class ProgressState {
 public:
  void start(const RunRecord& run);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch) { last_checkpoint_ = epoch; }
  void finish(const RunRecord& run);

  /// {"state":"starting|training|<outcome>","epoch":…,"epochs":…,"loss":…,"validation":…,"epochSeconds":…,
  ///  "etaSeconds":…,"lastCheckpointEpoch":…,"bytes":{"intra":…,"inter":…},"test":…,"bestEpoch":…,
  ///  "ranks":[{"rank":0,"answers":true,"waitingFor":[2],"waitedSeconds":…},{"rank":1,"answers":false},…]}; null =
  ///  unknown yet. `ranks` are those of this server.
  std::string json(std::span<const RankWait> ranks) const;

 private:
  std::string state_ = "starting";
  Index epochs_ = 0, epoch_ = 0;
  std::optional<Index> last_checkpoint_, best_epoch_;
  std::optional<double> loss_, validation_, epoch_seconds_, seconds_left_, test_;
  std::int64_t bytes_intra_ = 0, bytes_inter_ = 0;
  TimeLeft time_left_;
};

}  // namespace atl
