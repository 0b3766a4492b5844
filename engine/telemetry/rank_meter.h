// Where one rank's time goes and what it sends: seconds by phase and bytes by link and purpose, of each epoch
// and over the run.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "telemetry/record.h"

namespace atl {

/// Told when what begins and ends, by the loop's thread.
class RankMeter {
 public:
  /// `comm` outlives it.
  explicit RankMeter(const Communicator& comm);

  void begin_epoch();
  void end_step();  // its bytes are counted
  void
  end_sums();  // of the last loss over ranks: late transfers go on meanwhile, so their time is the epoch's
  /// From begin_epoch() to end_sums(). Evaluation, if any, comes next.
  double training_seconds() const { return trained_ - began_; }
  /// From begin_epoch() to now.
  double seconds_so_far() const;
  /// From begin_epoch() to the last end_step(); of batches, from the last end_step() before.
  std::int64_t bytes_sent(Link link) const;
  /// After the evaluation: the epoch's figures. batches: since the start.
  RankSample end_epoch(const std::optional<BatchCounts>& batches);
  /// Around a checkpoint, which counts in the figures of the epoch that ends next, and in phases(), but as
  /// training nowhere.
  void begin_checkpoint();
  void end_checkpoint();

  /// Sums over the run so far.
  std::vector<Phase> phases() const;

 private:
  std::int64_t bytes_sent(Link link, int purpose) const;

  const Communicator& comm_;
  Ledger before_, after_;  // at the beginning and end of the epoch's training
  Ledger batches_before_;  // where the epoch's batches begin: at the end of the training of the one before
  bool has_begun_ = false;
  double began_ = 0, trained_ = 0;
  double exposed_ = 0;                                             // of the same time
  double communicated_ = 0, progress_cpu_ = 0;                     // of the epoch's training
  bool trains_ = false;                                            // between begin_epoch() and end_sums()
  double checkpoint_seconds_ = 0;                                  // since the last epoch's figures
  double paused_ = 0, paused_communication_ = 0, paused_cpu_ = 0;  // at begin_checkpoint()
  BatchCounts batches_;  // since the start, at the end of the last epoch
  std::vector<Phase> phases_;
};

/// Of the steady clock.
double steady_seconds();

}  // namespace atl
