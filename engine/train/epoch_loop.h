// The epochs of a run: train, evaluate, tell, checkpoint, until the last one, a stop, or the end of patience.
#pragma once

#include "train/best.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/part_states.h"
#include "train/session.h"
#include "train/telemetry/rank_meter.h"
#include "train/trainer.h"

namespace atl {

/// What the loop works on; all of it outlives the loop.
struct LoopParts {
  Communicator& comm;
  const SessionOptions& options;
  const DatasetMeta& dataset;
  const RankData& data;
  Trainer& trainer;
  Best& best;
  const CheckpointStore& store;
  const PartsOnRanks& parts;
  RankMeter& meter;
  RunRecord& record;  // epochs are added
};

/// Collective.
class EpochLoop {
 public:
  explicit EpochLoop(const LoopParts& parts)
      : p_(parts), job_(parts.options.job), last_checkpoint_(parts.record.resumed_from) {}

  /// From the epoch after record.resumed_from.
  Outcome run();

 private:
  bool run_epoch(Index epoch);
  bool sum_over_ranks(double loss, EpochRecord& epoch);
  std::vector<Lateness> lateness_over_ranks();
  void evaluate_into(EpochRecord& epoch);
  void checkpoint(Index epoch);

  LoopParts p_;
  const Job& job_;
  Index last_checkpoint_;
};

}  // namespace atl
