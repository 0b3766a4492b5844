// One rank's seconds by phase and bytes by link and purpose, for each epoch and over the run.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "strategies/gnnpipe/figures.h"
#include "telemetry/record.h"

namespace atl {

/// Measures the phases of a rank. The loop's thread tells it when each begins and ends.
class RankMeter {
 public:
  /// `comm` must outlive it.
  explicit RankMeter(const Communicator& comm);

  void begin_epoch();
  void end_step();  // counts the step's bytes
  /// Call when the epoch's last loss has been summed over ranks. Late transfers go on until then, and their
  /// time is part of the epoch.
  void end_sums();
  /// Seconds from begin_epoch() to end_sums(). Evaluation, if there is one, comes after that.
  double training_seconds() const { return trained_ - began_; }
  /// Seconds from begin_epoch() to now.
  double seconds_so_far() const;
  /// Bytes sent from begin_epoch() to the last end_step(). Bytes of batches count from the previous epoch's
  /// last end_step().
  std::int64_t bytes_sent(Link link) const;
  /// Call after the evaluation. Returns the epoch's figures. `batches` counts since the start.
  RankSample end_epoch(const std::optional<BatchCounts>& batches);
  /// Call these before and after a checkpoint. Its seconds count in the figures of the epoch that ends next
  /// and in phases(), but never as training.
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
  double communicated_ = 0, progress_cpu_ = 0;                     // seconds in the epoch's training
  bool trains_ = false;                                            // between begin_epoch() and end_sums()
  double checkpoint_seconds_ = 0;                                  // since the last epoch's figures
  double paused_ = 0, paused_communication_ = 0, paused_cpu_ = 0;  // values at begin_checkpoint()
  BatchCounts batches_;  // counts from the start to the last epoch's end
  std::vector<Phase> phases_;
};

/// The time of the steady clock in seconds.
double steady_seconds();

// Figures that each rank alone knows (memory, seconds, bytes), gathered when a run ends.

/// Fills in, on every rank, the record's figures by rank and its sums over ranks. `phases` are this rank's
/// sums over the run. Collective.
void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record);

// Gathers each rank's last explanation for the record: which vertices of other ranks and which features
// matter to the rank.

/// Fills in the record's explanations on rank 0. Collective over ranks that all explain.
void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record);

// Gathers when the stages of a pipeline worked in a run's last epoch, and the share of it in which they were
// idle.

/// Fills in the record's pipeline on rank 0, by rank 0's clock. Collective over ranks that all have stages.
void gather_pipeline(Communicator& comm, const StageTimes& times, RunRecord& record);

/// The epoch of a pipeline. `ranks` holds every rank's times of the epoch, on one clock. If there are many
/// chunks, neighbours are joined into groups.
PipelineEpoch pipeline_epoch(std::span<const StageTimes> ranks);

}  // namespace atl
