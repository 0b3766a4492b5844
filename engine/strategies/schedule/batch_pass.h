// The verbs of a pass over one mini-batch: a gather is one block, whose sources the rank has fetched or
// computed itself, so that nothing travels between layers.
#pragma once

#include <utility>
#include <vector>

#include "comm/device_sums.h"
#include "model/gather.h"
#include "sampler/batch.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

// A gather of one block, whose sources are here: nothing travels.

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

/// One per rank and batch in flight. References outlive it.
class BatchPass final : public Pass {
 public:
  /// `seed` of all draws.
  BatchPass(Context& ctx, const Model& model, LayerRange layers, std::uint64_t seed);

  /// The batch that is computed next; `step` (from 1) keys its draws. It outlives the pass over it.
  void begin(const Batch& batch, std::int64_t step, bool training);
  /// After begin(), where the layers reduce and several ranks compute batches: which rows they share. It
  /// outlives the pass.
  void share(Communicator& comm, const SharedRows& shares);
  /// Of every layer of the range, on that batch. Layers that gather take the batch's in turn; others have as
  /// many outputs as inputs.
  const std::vector<LayerRows>& rows() const { return rows_; }

  Gather& gather(const Rows& rows) override;
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override;
  void reduce(std::span<double> values) override {
    if (comm_ != nullptr) sums_.sum(ctx_, *comm_, Traffic::kStatistics, RankGroup(*comm_, {}), values);
  }
  void bind(int layer) override;

 private:
  LayerRange layers_;
  std::vector<std::size_t> sets_;  // by layer of the range: SharedRows' set of its destinations
  std::vector<int> hops_;          // by layer of the range: the batch's layer that it gathers, or −1
  std::vector<LayerRows> rows_;
  // Of the batch, as kernels read it:
  DeviceCopies copies_;
  std::vector<Block> blocks_;                   // by its layer
  std::span<const VertexId> ids_;               // (rows)
  Communicator* comm_ = nullptr;                // null: this rank alone computes
  std::vector<std::span<const Real>> weights_;  // by set
  std::vector<double> totals_;                  // by set: vertices over all ranks
  DeviceSum sums_;
  std::size_t at_ = 0;  // of the range, the layer that is next
  BlockGather gather_;
};

}  // namespace atl
