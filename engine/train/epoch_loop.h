// The epochs of a run: train, evaluate, report, checkpoint, until the last epoch, a stop, or the end of
// patience.
#pragma once

#include <utility>

#include "telemetry/rank_meter.h"
#include "train/best.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/run_state.h"
#include "train/session.h"
#include "train/trainer.h"

namespace atl {

/// The parts that the loop works on. All must outlive it.
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
  EpochSoFar& epoch;  // the present epoch
  RunRecord& record;  // epochs are added
};

/// Collective: all ranks make the same calls.
class EpochLoop {
 public:
  explicit EpochLoop(const LoopParts& parts)
      : p_(parts),
        job_(parts.options.job),
        at_{parts.record.resumed_from, parts.record.resumed_steps},
        last_checkpoint_(at_),
        before_(parts.epoch) {}

  /// Starts where the record says that the run was resumed.
  Outcome run();

 private:
  bool run_epoch();
  bool run_step(double learning_rate);
  bool is_evaluated(Index epoch) const;
  void end_epoch(EpochRecord& epoch);
  std::pair<double, bool> sum_over_ranks(double loss);
  void check_finite(double loss);
  void report_growth(const EpochRecord& epoch);
  void warn_if_not_learning();
  std::vector<Staleness> staleness_over_ranks();
  void evaluate_into(EpochRecord& epoch);
  void checkpoint();

  LoopParts p_;
  const Job& job_;
  Reached at_, last_checkpoint_;
  double without_input_ = 0;  // see loss_without_input()
  bool is_first_ = true;      // whether this is the first epoch that is trained since the start
  EpochSoFar before_;         // the part of this epoch that was done before this start
};

}  // namespace atl
