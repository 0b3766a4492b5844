// The verbs of a pass over one mini-batch whose first layers are computed by columns. This rank computes them
// for the whole group's batches, in the columns that it has, until the first product is made whole at each
// batch's owner. It computes the other layers for its own batch alone.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "comm/device_sums.h"
#include "model/gather.h"
#include "sampler/column_share.h"
#include "sampler/group_batch.h"
#include "strategies/exchange/wire.h"
#include "strategies/schedule/batch_pass.h"

namespace atl {

// The first layer's products, made whole over the ranks among which the features' columns are divided: each
// sends the summands of a batch's rows to the batch's owner, which adds them up, and the owner sends the
// gradient to all (Gandhi & Iyer 2021, section 3.2.2: steps 3 and 7).
//
// Summands and gradients cross as strategy.wire says; a rank's own are never rounded. Scores cross whole, as
// under every strategy: a rounded one would change every weight of its softmax.

/// The kinds of traffic that sums count as, there and back.
struct PartialTraffic {
  Traffic forward = Traffic::kPartial, back = Traffic::kPartialGradient;
};

/// Sums over the group for one batch in flight. The compute thread calls it; messages are on Lane::kBulk.
/// References outlive it.
class PartialSums final : public Columns {
 public:
  PartialSums(Context& ctx, Communicator& comm, const ColumnShare& share, Precision wire,
              const PartialTraffic& traffic);

  /// Sets the group's next batch, which outlives the pass over it.
  void begin(const GroupBatch& batch);

  MatrixView summands(Index cols) override;
  void begin_whole(MatrixView summands, Rounding rounding) override;
  void end_whole(FunctionRef<void(MatrixView)> add) override;
  void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) override;
  MatrixView end_spread() override;
  void sum(MatrixView values) override;

  std::int64_t reallocations() const { return reallocations_; }
  Index bytes() const;

 private:
  void use(Rounding rounding) { in_use_ = rounding == Rounding::kNever ? whole_ : wire_; }
  MatrixView of(int member, MatrixView all) const {
    return all.slice_rows(batch_->whole_begin(member), batch_->whole_count(member));
  }
  MatrixView sized(Matrix& memory, Index rows, Index cols);
  MatrixView arrived_from(int member, Index cols);
  void exchange(Traffic purpose);

  Context& ctx_;
  Communicator& comm_;
  const ColumnShare& share_;
  RankGroup group_;
  Wire wire_, whole_;
  Wire in_use_;  // of the transfer under way
  const PartialTraffic traffic_;
  const GroupBatch* batch_ = nullptr;
  bool goes_back_ = false;
  Index cols_ = 0;  // of the transfer under way
  Matrix summands_, arrived_,
      spread_;      // (group's rows, cols), (own rows of each other member, cols), (group's rows, cols)
  Matrix leaving_;  // rounded copies of own gradients
  DeviceSum sum_;   // over the group
  std::vector<Message> sends_, receives_;
  Event under_way_;
  std::int64_t reallocations_ = 0;
};

/// Which layers are computed by columns: the constant ones at the beginning, and the first with parameters,
/// whose product is made whole.
struct SplitLayers {
  explicit SplitLayers(const Model& model)
      : whole(model.constant_prefix()), hops(whole + (model.spec(whole).gathers ? 1 : 0)) {}
  int whole = 0;  // the layer whose product is made whole
  int hops = 0;   // how many layers gather, up to and with that one
};

/// What those layers need of the group's batches.
GroupBatchOptions group_options(const Model& model);

struct PushPullPassOptions {
  int end = 0;  // the pass has layers 0 … end − 1
  std::uint64_t seed = 1;
  Precision wire = Precision::kFloat32;
  PartialTraffic traffic{};
};

/// One per batch in flight. References outlive it.
class PushPullPass final : public Pass {
 public:
  PushPullPass(Context& ctx, Communicator& comm, const Model& model, const ColumnShare& share,
               const PushPullPassOptions& options);

  /// The batch that is computed next, and its group's; `step` (from 1) keys draws. Both outlive the pass over
  /// them.
  void begin(const Batch& batch, const GroupBatch& group, std::int64_t step, bool training = true);
  /// As BatchPass::share(), for the layers after the first product.
  void share(Communicator& comm, const SharedRows& shares) { own_.share(comm, shares); }
  const SplitLayers& split() const { return split_; }
  /// The row counts of all layers.
  const std::vector<LayerRows>& rows() const { return rows_; }

  Gather& gather(const Rows& rows) override;
  Gather& gather_back(const Rows& rows, MatrixView d_rows) override;
  void reduce(std::span<double> values) override { own_.reduce(values); }
  void bind(int layer) override;

  std::int64_t reallocations() const { return sums_.reallocations(); }
  Index bytes() const { return sums_.bytes(); }

 private:
  const SplitLayers split_;
  const bool is_split_;
  const Index first_column_;
  BatchPass own_;
  PartialSums sums_;
  DeviceCopies copies_;
  std::vector<Block> blocks_;            // the group's, by hop
  std::span<const VertexId> ids_;        // of the group's rows
  std::span<const VertexId> group_ids_;  // of the group's rows whose product is made whole
  std::vector<LayerRows> rows_;
  BlockGather gather_;
  std::size_t at_ = 0;
};

}  // namespace atl
