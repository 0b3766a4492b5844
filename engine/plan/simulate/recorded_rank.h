// One rank of a job while it is recorded: its data, its model, and epochs of training that are noted.
#pragma once

#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "plan/simulate/rank_notes.h"
#include "plan/simulate/record.h"
#include "train/trainer.h"

namespace atl {

/// Stays where it is made: its parts point to each other. All calls from one thread.
class RecordedRank {
 public:
  /// All but `engine` outlive it. Collective.
  RecordedRank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
               const RecordOptions& options, std::unique_ptr<ProgressEngine> engine);
  RecordedRank(const RecordedRank&) = delete;

  /// The run's first epochs. Returns (epochs) this rank's sums of losses. Collective.
  std::vector<double> train(RankNotes& notes);
  /// By how many vertices losses are divided; 0: this rank has no logits.
  double step_vertices() const { return trainer_->step_vertices(); }

 private:
  const Job& job_;
  const RecordOptions& options_;
  ThreadPool pool_;
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  RankData data_;
  Trace trace_{2};  // asked for its label alone
  Communicator comm_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace atl
