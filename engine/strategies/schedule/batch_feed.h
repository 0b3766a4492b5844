// A schedule's batches, one step's after the other: the stream that makes them ahead of time, begun anew
// where steps begin anew, and what they have come to.
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
  std::int64_t epochs = 1;  // batches beyond them aren't made ahead
};

/// By the compute thread. Collective: all ranks make the same calls. References outlive it.
class BatchFeed {
 public:
  BatchFeed(Communicator& comm, const BatchGraph& graph, const BatchFeedOptions& options);

  StepSeeds& seeds() const { return samplings_.front()->seeds(); }
  /// Whether the batch of `step` (of the run, from 0) is the one that next() gives.
  bool has(std::int64_t step) const { return step == next_ && next_ < end_; }
  /// Ends what makes batches; start() begins it anew.
  void stop();
  /// next() gives that of `step`. Batches that were given before are gone.
  void start(std::int64_t step);
  /// Valid for `held` calls.
  const StreamedBatch& next();

  /// The batch's seeds as rows of this rank's, valid until the next call.
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
  double waited_before_ = 0;           // for batches of streams before this one
  std::int64_t next_ = -1, end_ = -1;  // steps of the stream: the next one, and where it ends
};

}  // namespace atl
