// One rank's seconds by phase and bytes by link and purpose, for each epoch and over the run.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "telemetry/record.h"

namespace atl {

/// The loop's thread tells it when each phase begins and ends.
class RankMeter {
 public:
  /// `comm` must outlive it.
  explicit RankMeter(const Communicator& comm);

  void begin_epoch();
  void end_step();  // the step's bytes are counted
  /// Call when the last loss is summed over ranks. Late transfers go on until then, so that their time is the
  /// epoch's.
  void end_sums();
  /// From begin_epoch() to end_sums(). Evaluation, if any, comes next.
  double training_seconds() const { return trained_ - began_; }
  /// From begin_epoch() to now.
  double seconds_so_far() const;
  /// From begin_epoch() to the last end_step(). The bytes of batches count from the last end_step() before
  /// that.
  std::int64_t bytes_sent(Link link) const;
  /// Called after the evaluation: returns the epoch's figures. `batches` counts since the start.
  RankSample end_epoch(const std::optional<BatchCounts>& batches);
  /// Called around a checkpoint. Its seconds count in the figures of the epoch that ends next and in
  /// phases(), but never as training.
  void begin_checkpoint();
  void end_checkpoint();

  /// Sums over the run so far.
  std::vector<Phase> phases() const;

 private:
  std::int64_t bytes_sent(Link link, int purpose) const;

  const Communicator& comm_;
  Ledger before_, after_;  // at the beginning and end of the epoch's training
  Ledger batches_before_;  // at the end of the last epoch's training, where this epoch's batches begin
  bool has_begun_ = false;
  double began_ = 0, trained_ = 0;
  double exposed_ = 0;  // communication of the training that the compute thread waited for
  double communicated_ = 0, progress_cpu_ = 0;                     // in the epoch's training
  bool trains_ = false;                                            // between begin_epoch() and end_sums()
  double checkpoint_seconds_ = 0;                                  // since the last epoch's figures
  double paused_ = 0, paused_communication_ = 0, paused_cpu_ = 0;  // at begin_checkpoint()
  BatchCounts batches_;  // since the start, as of the last epoch's end
  std::vector<Phase> phases_;
};

/// By the steady clock.
double steady_seconds();

}  // namespace atl
