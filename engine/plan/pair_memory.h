// What link prediction's loss and its metrics take beside the model: memory of pairs, of the rows of their ends and of their scores, and work.
#pragma once

#include "job/job.h"
#include "plan/epoch_work.h"
#include "plan/pair_sizes.h"

namespace atl {

/// Of one rank; nothing without task linkPrediction.
struct PairMemory {
  Index loaded = 0;   // training edges and pairs that are measured: from loading on
  Index mapped = 0;   // files of pairs, while they are read
  Index pairs = 0;    // with it the pairs of steps, and pages of the files that say which vertex is which row
  Index ends = 0;     // rows of other ranks, and their gradients
  Index scoring = 0;  // the decoder's layers, scores, and on rank 0 those of all ranks
};

struct PairPlace {
  Rank rank = 0;
  int ranks = 1, threads = 1;
  bool batches = false;  // the pairs of a step come with its batch
};

PairMemory pair_memory(const Job& job, const PairSizes& sizes, const PairPlace& place);

/// Of an epoch's loss: rows gathered and gradients added to them, the decoder there and back, and negative pairs drawn.
EpochWork pair_work(const Job& job, const PairSizes& sizes);
/// Of both sets that are measured; `root`: with the sorting of all scores.
EpochWork scoring_work(const Job& job, const PairSizes& sizes, bool root);

}  // namespace atl
