// A schedule's batches, step by step: the stream that makes them ahead of time, which restarts where steps
// restart, and counts over them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sampler/batch_sampling.h"
#include "strategies/schedule/batch_counts.h"

namespace atl {

struct BatchFeedOptions {
  BatchSamplingOptions batches;
  int ahead = 2, held = 1;  // BatchStream::Options
  std::int64_t epochs = 1;  // batches beyond these aren't made ahead
};

/// For the compute thread. Collective: all ranks make the same calls. References must outlive it.
class BatchFeed {
 public:
  BatchFeed(Communicator& comm, const BatchGraph& graph, const BatchFeedOptions& options);

  StepSeeds& seeds() const { return samplings_.front()->seeds(); }
  /// Whether next() gives the batch of `step` (of the run, from 0).
  bool has(std::int64_t step) const { return step == next_ && next_ < end_; }
  /// Stops making batches, until start().
  void stop();
  /// Makes next() give the batch of `step`. Batches given before become invalid.
  void start(std::int64_t step);
  /// The batch is valid for `held` calls.
  const StreamedBatch& next();

  /// The batch's seeds as numbers of this rank's rows, valid until the next call.
  std::span<const VertexId> owned_rows(const Batch& batch);
  BatchCounts& counts() { return counts_; }
  const BatchCounts& counts() const { return counts_; }

 private:
  Communicator& comm_;
  const BatchGraph& graph_;
  const BatchFeedOptions options_;
  std::vector<std::unique_ptr<BatchSampling>> samplings_;
  std::optional<BatchStream> stream_;
  std::vector<VertexId> rows_;
  BatchCounts counts_;
  double waited_before_ = 0;           // for batches of earlier streams
  std::int64_t next_ = -1, end_ = -1;  // steps of the stream: the next one, and the one after its last
};

}  // namespace atl
