// The first layer's products, made whole over the ranks that have the features' columns between them: each sends the summands of a batch's
// rows to the batch's owner, which adds them up, and the owner sends the gradient to all (Gandhi & Iyer 2021, section 3.2.2: steps 3 and 7).
//
// Summands and gradients cross as strategy.wire says; a rank's own are never rounded. Scores cross whole, as under every strategy: a rounded
// one would change every weight of its softmax.
#pragma once

#include <vector>

#include "comm/device_sums.h"
#include "comm/rank_group.h"
#include "strategies/exchange/wire.h"
#include "model/row_group.h"
#include "sampler/column_share.h"
#include "sampler/group_batch.h"

namespace atl {

/// As what they are counted, there and back.
struct PartialTraffic {
  Traffic forward = Traffic::kPartial, back = Traffic::kPartialGradient;
};

/// Of one batch in flight. By the compute thread, on Lane::kBulk. References outlive it.
class PartialSums final : public Columns {
 public:
  PartialSums(Context& ctx, Communicator& comm, const ColumnShare& share, Precision wire,
              const PartialTraffic& traffic);

  /// The group's next batch, which outlives the pass over it.
  void begin(const GroupBatch& batch);

  MatrixView summands(Index cols) override;
  void begin_whole(MatrixView summands, Rounding rounding) override;
  void end_whole(FunctionRef<void(MatrixView)> add) override;
  void begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) override;
  MatrixView end_spread() override;
  void sum(MatrixView values) override;

  std::int64_t growths() const { return growths_; }
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
  std::int64_t growths_ = 0;
};

}  // namespace atl
