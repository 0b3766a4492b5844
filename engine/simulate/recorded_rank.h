// One rank of a job while it is recorded: its data, its model, and epochs of training that are noted.
#pragma once

#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "simulate/rank_notes.h"
#include "simulate/record.h"
#include "train/trainer.h"

namespace atl {

/// Over all ranks; of a rank by itself, its own.
struct EpochLoss {
  double sum = 0;
  double vertices = 0;  // by which it is divided; 0: this rank has no logits
};

/// Stays where it is made: its parts point to each other. All calls from one thread.
class RecordedRank {
 public:
  /// All but `engine` outlive it. Collective.
  RecordedRank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
               const RecordOptions& options, std::unique_ptr<ProgressEngine> engine);
  RecordedRank(const RecordedRank&) = delete;

  /// The run's first epochs. Collective.
  std::vector<EpochLoss> train(RankNotes& notes);

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

// Where threads that are measured compute: each on a processor that it has to itself.

/// That the calling thread may use.
std::vector<int> allowed_processors();

/// The calling thread stays on the one of that number among them, counted round. Where that isn't allowed,
/// the kernel places it.
void stay_on_processor(int number, const std::vector<int>& allowed);

}  // namespace atl
