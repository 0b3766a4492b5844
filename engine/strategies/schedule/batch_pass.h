// BatchFeed gives a schedule its batches, step by step. A stream makes them ahead of time, and is started
// again where the run's steps don't follow each other. BatchPass has the verbs of a pass over one batch.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "comm/device_sums.h"
#include "model/gather.h"
#include "sampler/batch_sampling.h"
#include "strategies/schedule/batch_counts.h"
#include "strategies/schedule/layer_runner.h"

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
  double waited_before_ = 0;           // seconds, for batches of earlier streams
  std::int64_t next_ = -1, end_ = -1;  // steps of the stream: the next one, and the one after its last
};

// A gather of one block whose sources are on this rank, so that nothing travels.

class BlockGather final : public Gather {
 public:
  Gather& start(const Block& block, const Rows& rows, MatrixView d_rows) {
    ATOLL_CHECK(is_pulled_, "a gather begins before the last one has ended");
    block_ = block;
    source_ = {&block_, rows, 0, true, true, d_rows};
    is_pulled_ = false;
    return *this;
  }
  const Source* next() override { return std::exchange(is_pulled_, true) ? nullptr : &source_; }

 private:
  Block block_;
  Source source_;
  bool is_pulled_ = true;
};

/// The verbs of a pass over one batch. Each gather is one block, whose sources this rank has fetched or
/// computed itself, so that nothing travels between layers. One per rank and batch in flight. References must
/// outlive it.
class BatchPass final : public Pass {
 public:
  /// `seed` keys all draws.
  BatchPass(Context& ctx, const Model& model, LayerRange layers, std::uint64_t seed);

  /// Sets the batch that is computed next, which must outlive its pass. `step` (from 1) keys its draws.
  void begin(const Batch& batch, std::int64_t step, bool training);
  /// Call after begin() where layers call Verbs::reduce() and several ranks compute batches. `shares` says
  /// which rows they share; it must outlive the pass.
  void share(Communicator& comm, const SharedRows& shares);
  /// Rows of each layer of the range, on that batch. Layers that gather take the batch's layers in turn;
  /// others have as many outputs as inputs.
  const std::vector<LayerRows>& rows() const { return rows_; }

  Gather& gather(const Rows& rows) override;
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override;
  void reduce(std::span<double> values) override {
    if (comm_ != nullptr) sums_.sum(ctx_, *comm_, Traffic::kStatistics, RankGroup(*comm_, {}), values);
  }
  void bind(int layer) override;

 private:
  LayerRange layers_;
  std::vector<std::size_t> sets_;  // by layer of the range: its destinations' set in SharedRows
  std::vector<int> hops_;          // by layer of the range: the batch's layer that it gathers from, or −1
  std::vector<LayerRows> rows_;
  // The batch, as kernels read it:
  DeviceCopies copies_;
  std::vector<Block> blocks_;                   // by the batch's layer
  std::span<const VertexId> ids_;               // (rows)
  Communicator* comm_ = nullptr;                // null: no other rank computes
  std::vector<std::span<const Real>> weights_;  // by set
  std::vector<double> totals_;                  // by set: number of vertices over all ranks
  DeviceSum sums_;
  std::size_t at_ = 0;  // the next layer, counted in the range
  BlockGather gather_;
};

}  // namespace atl
