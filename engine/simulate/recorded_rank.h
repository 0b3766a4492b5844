// One rank of a job while it is recorded: its data, its model, and epochs of training that are noted.
#pragma once

#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "simulate/rank_notes.h"
#include "simulate/record.h"
#include "train/trainer.h"

namespace atl {

/// The loss of an epoch, summed over all ranks. If a rank is recorded by itself, it is that rank's part.
struct EpochLoss {
  double sum = 0;
  double vertices = 0;  // divisor of the sum; 0: the rank has no logits
};

/// Neither copyable nor movable: its members point to each other.
class RecordedRank {
 public:
  /// All arguments except `engine` outlive it. Collective.
  RecordedRank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
               const RecordOptions& options, std::unique_ptr<ProgressEngine> engine);
  RecordedRank(const RecordedRank&) = delete;

  /// Trains the run's first epochs. Collective.
  std::vector<EpochLoss> train(RankNotes& notes);

 private:
  const Job& job_;
  const RecordOptions& options_;
  ThreadPool pool_;
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  RankData data_;
  Trace trace_{2};  // only its label is read
  Communicator comm_;
  std::unique_ptr<Trainer> trainer_;
};

// Binds the threads that are measured to processors, one each.

/// Processors that the calling thread may use.
std::vector<int> allowed_processors();

/// Binds the calling thread to allowed[number], modulo their number. Where that isn't permitted, the kernel
/// places the thread.
void stay_on_processor(int number, const std::vector<int>& allowed);

}  // namespace atl
