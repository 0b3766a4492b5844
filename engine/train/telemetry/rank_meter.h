// Where one rank's time goes and what it sends: seconds by phase and bytes by link and purpose, of each epoch and over
// the run.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "train/telemetry/record.h"

namespace atl {

/// Told when what begins and ends, by the loop's thread.
class RankMeter {
 public:
  /// `comm` outlives it.
  explicit RankMeter(const Communicator& comm);

  void begin_epoch();
  void end_training();  // its bytes are counted
  void end_sums();  // of the loss over ranks: late transfers go on meanwhile, so their time is the epoch's
  /// From begin_epoch() to end_sums(). Evaluation, if any, comes next.
  double training_seconds() const { return trained_ - began_; }
  std::int64_t bytes_sent(Link link) const { return after_.bytes(link) - before_.bytes(link); }
  /// After the evaluation: the epoch's figures.
  RankSample end_epoch();
  /// Entered in the next epoch's figures, and in phases().
  void add_checkpoint(double seconds) { checkpoint_seconds_ += seconds; }

  /// Sums over the run so far.
  std::vector<Phase> phases() const;

 private:
  const Communicator& comm_;
  Ledger before_, after_;  // at the beginning and end of the epoch's training
  double began_ = 0, trained_ = 0;
  double exposed_ = 0;                          // of the same time
  double communicated_ = 0, progress_cpu_ = 0;  // of the epoch's training
  double checkpoint_seconds_ = 0;               // since the last epoch's figures
  std::vector<Phase> phases_;
};

/// Of the steady clock.
double steady_seconds();

}  // namespace atl
