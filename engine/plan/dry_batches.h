// What mini-batches will hold and send, counted without training. Each rank's first batches are drawn as in
// training: draws are keyed, so from the prepared graph they are the same batches. Then one rank after the
// other goes through its batches on kernels that compute nothing.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "comm/operation.h"
#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "plan/pair_sizes.h"
#include "plan/rank_shape.h"
#include "plan/traffic.h"

namespace atl {

struct DryBatches {
  std::int64_t steps = 0;  // of an epoch
  DryRun run;              // schedule.halo: batches made ahead of time, and the buffers that fetch their rows
  EpochWork work;
  Index owned = 0, arcs = 0;  // rows of the rank, and arcs to them
  PairSizes pairs{};          // with task linkPrediction
  ScoredRows scored{};        // for any other task: rows of the rank in each split
  Index pages = 0;            // bytes of mapped arcs: the rank's own, or the whole graph's
  Index sums = 0;             // bytes of the constant layers' sums, in a file where there is a sums_folder()
  EvaluationParts evaluation{};  // parts of run.evaluation, without the metric
  // In an epoch, where features are held by columns:
  double whole_rows = 0;  // rows of the rank's batches whose product is summed up at this rank
  double pushed = 0;      // bytes of the batches' first layers that go to ranks with the other columns
  double by_rows = 0;     // bytes that the rank would request and receive if features were held by rows
  // What making batches takes in an epoch:
  double drawn_arcs = 0, read_rows = 0;    // arcs of all layers; rows whose features are read
  double looked_at = 0;                    // Sampler::arcs_looked_at()
  std::vector<TrafficBytes> to;            // (ranks) bytes sent to each rank
  std::array<double, kTraffics> rounds{};  // (purposes) number of exchanges
  EpochWork beside;  // upper bound of the work of threads that don't train (StrategyPlan::beside)
};

/// Observer of a rank's dry training, batch by batch. Ranks come one after the other.
class DryNotes {
 public:
  virtual ~DryNotes() = default;
  /// Begins a rank: returns the engine that carries out its operations, and sets `trace`, which outlives the
  /// engine.
  virtual std::unique_ptr<ProgressEngine> begin(Rank rank, Trace*& trace) = 0;
  /// Where the rank's kernels count their work.
  virtual ComputeWork* counted() = 0;
  /// Begins training on a batch. end() closes the rank's last one.
  virtual void begin_step(std::int64_t step) = 0;
  virtual void end() = 0;
};

inline constexpr std::int64_t kPlannedBatches = 32;

/// Returns results by rank, from at most kPlannedBatches batches of each. An epoch's figures are the batches'
/// mean times their number; memory is that of the largest batch. `notes` may be null.
std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                    int threads, const std::vector<std::string>& hosts,
                                    DryNotes* notes = nullptr);

}  // namespace atl
