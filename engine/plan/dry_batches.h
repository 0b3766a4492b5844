// What mini-batches will hold and send, without training: each rank's first batches are drawn as in training
// (their draws are keyed, so from the prepared graph they are the same), and one rank after the other goes
// through them on kernels that compute nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "plan/metric_traffic.h"
#include "plan/pair_sizes.h"
#include "plan/rank_shape.h"

namespace atl {

struct DryBatches {
  std::int64_t steps = 0;  // of an epoch
  DryRun run;              // schedule.halo: batches ahead of time, and what fetches their rows
  EpochWork work;
  Index owned = 0, arcs = 0;     // rows of the rank, and arcs to them
  PairSizes pairs{};             // with task linkPrediction
  ScoredRows scored{};           // of its rows, otherwise
  Index pages = 0;               // of mapped arcs: the rank's own, or the whole graph's
  EvaluationParts evaluation{};  // of run.evaluation; without the metric
  // Where features are held by columns, of an epoch:
  double whole_rows = 0;  // of the rank's batches, that are made whole at it
  double pushed = 0;      // bytes of the batches' first layers, to those with the other columns
  double by_rows = 0;     // bytes that it would ask for and get, were they held by rows
  // What making batches takes, in an epoch:
  double drawn_arcs = 0, read_rows = 0;  // in all layers; whose features are read
  std::vector<TrafficBytes> to;          // (ranks) sent to each
  EpochWork beside;  // of threads that work beside those that train (StrategyPlan::beside), at most
};

/// Told what a rank's training does, batch by batch. One rank after the other.
class DryNotes {
 public:
  virtual ~DryNotes() = default;
  /// The rank begins: what carries out its operations, and its trace, which outlives that.
  virtual std::unique_ptr<ProgressEngine> begin(Rank rank, Trace*& trace) = 0;
  /// Where its kernels count what they do.
  virtual ComputeWork* counted() = 0;
  /// Training on a batch begins; the rank's last one has ended.
  virtual void begin_step(std::int64_t step) = 0;
  virtual void end() = 0;
};

inline constexpr std::int64_t kPlannedBatches = 32;

/// By rank. Over at most kPlannedBatches each; epochs by their means, memory by the largest.
/// `notes` may be null.
std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                    int threads, const std::vector<std::string>& hosts,
                                    DryNotes* notes = nullptr);

}  // namespace atl
