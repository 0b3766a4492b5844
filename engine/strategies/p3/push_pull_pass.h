// The verbs of a pass over one mini-batch whose first layers are computed by columns: those of the whole group's batches, in the columns that
// this rank has, until the first product is made whole at each batch's owner. The other layers are the own batch's alone.
#pragma once

#include "strategies/schedule/batch_pass.h"
#include "strategies/p3/partial_sums.h"

namespace atl {

/// Which layers are computed by columns: the constant ones at the beginning, and the first with parameters, whose product is made whole.
struct SplitLayers {
  explicit SplitLayers(const Model& model)
      : whole(model.constant_prefix()), hops(whole + (model.spec(whole).gathers ? 1 : 0)) {}
  int whole = 0;  // the layer whose product is made whole
  int hops = 0;   // layers that gather up to it, itself among them
};

/// What of the group's batches those layers need.
GroupBatchOptions group_options(const Model& model);

struct PushPullPassOptions {
  int end = 0;  // of the layers of the pass, which begin with the first
  std::uint64_t seed = 1;
  Precision wire = Precision::kFloat32;
  PartialTraffic traffic{};
};

/// One per batch in flight. References outlive it.
class PushPullPass final : public Pass {
 public:
  PushPullPass(Context& ctx, Communicator& comm, const Model& model, const ColumnShare& share,
               const PushPullPassOptions& options);

  /// The batch that is computed next, and its group's; `step` (from 1) keys draws. Both outlive the pass over them.
  void begin(const Batch& batch, const GroupBatch& group, std::int64_t step, bool training = true);
  /// As BatchPass::share(), for the layers behind.
  void share(Communicator& comm, const SharedRows& shares) { own_.share(comm, shares); }
  const SplitLayers& split() const { return split_; }
  /// Whether the product is made whole over several ranks.
  bool is_split() const { return is_split_; }
  /// Of all layers.
  const std::vector<LayerRows>& rows() const { return rows_; }

  Gather& gather(const Rows& rows) override;
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override;
  void reduce(std::span<double> values) override { own_.reduce(values); }
  void bind(int layer) override;

  std::int64_t growths() const { return sums_.growths(); }
  Index bytes() const { return sums_.bytes(); }

 private:
  const SplitLayers split_;
  const bool is_split_;
  const Index first_column_;
  BatchPass own_;
  PartialSums sums_;
  DeviceCopies copies_;
  std::vector<Block> blocks_;            // of the group, by hop
  std::span<const VertexId> ids_;        // of its rows
  std::span<const VertexId> group_ids_;  // of those whose product is made whole
  std::vector<LayerRows> rows_;
  BlockGather gather_;
  std::size_t at_ = 0;
};

}  // namespace atl
