#include "strategy/push_pull/partial_sums.h"

#include "tensor/kernels.h"

namespace atl {

PartialSums::PartialSums(Context& ctx, Communicator& comm, const ColumnShare& share, Precision wire,
                         const PartialTraffic& traffic)
    : ctx_(ctx),
      comm_(comm),
      share_(share),
      group_(comm, share.group),
      wire_(ctx, wire),
      traffic_(traffic),
      sum_(ctx.device) {}

void PartialSums::begin(const GroupBatch& batch, std::span<const VertexId> ids) {
  batch_ = &batch;
  ids_ = ids;
  goes_back_ = false;
}

MatrixView PartialSums::sized(Matrix& memory, Index rows, Index cols) {
  if (memory.grow(1, rows * cols, ctx_.device, true)) ++growths_;
  return {memory.data(), rows, cols};
}

MatrixView PartialSums::summands(Index cols) {
  return sized(summands_, batch_->whole_rows(), cols);
}

/// Others' summands of own rows, in the order of members.
MatrixView PartialSums::arrived_from(int member, Index cols) {
  const Index own = batch_->whole_count(share_.place), place = member - (member > share_.place ? 1 : 0);
  return MatrixView(arrived_.data(), own * (share_.members() - 1), cols).slice_rows(place * own, own);
}

void PartialSums::exchange(Traffic purpose) {
  under_way_ = comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
  sends_.clear(), receives_.clear();
}

void PartialSums::begin_whole(MatrixView summands) {
  sized(arrived_, batch_->whole_count(share_.place) * (share_.members() - 1), summands.cols);
  for (int m = 0; m < share_.members(); ++m) {
    if (m == share_.place) continue;
    const Rank peer = share_.group[std::size_t(m)];
    sends_.push_back(wire_.pack(of(m, summands)).message(peer));
    receives_.push_back(wire_.packed(arrived_from(m, summands.cols)).message(peer));
  }
  exchange(traffic_.forward);
}

void PartialSums::end_whole(MatrixView whole) {
  under_way_.wait();
  const MatrixView summands(summands_.data(), batch_->whole_rows(), whole.cols);
  for (int m = 0; m < share_.members(); ++m) {
    const bool own = m == share_.place;
    const MatrixView term = own ? of(m, summands) : arrived_from(m, whole.cols);
    if (!own) wire_.unpack(term);
    axpby(ctx_, 1, term, m == 0 ? 0 : 1, whole);
  }
}

void PartialSums::begin_spread(ConstMatrixView d_whole) {
  goes_back_ = true;
  spread_cols_ = d_whole.cols;
  const MatrixView spread = sized(spread_, batch_->whole_rows(), d_whole.cols),
                   own = of(share_.place, spread);
  axpby(ctx_, 1, d_whole, 0, own);
  const PackedRows leaves = wire_.pack_copy(own, sized(leaving_, own.rows, wire_.copied_columns(own.cols)));
  for (int m = 0; m < share_.members(); ++m) {
    if (m == share_.place) continue;
    const Rank peer = share_.group[std::size_t(m)];
    sends_.push_back(leaves.message(peer));
    receives_.push_back(wire_.packed(of(m, spread)).message(peer));
  }
  exchange(traffic_.back);
}

MatrixView PartialSums::end_spread() {
  under_way_.wait();
  const MatrixView spread(spread_.data(), batch_->whole_rows(), spread_cols_);
  for (int m = 0; m < share_.members(); ++m)
    if (m != share_.place) wire_.unpack(of(m, spread));
  return spread;
}

void PartialSums::sum(MatrixView values) {
  ATOLL_CHECK(values.contiguous(), "scores of stride {} with {} columns", values.stride, values.cols);
  const Index count = values.rows * values.cols;
  if (sum_.reserve(ctx_, group_, count, Index(sizeof(Real)))) ++growths_;
  sum_.sum(ctx_, comm_, goes_back_ ? traffic_.back : traffic_.forward, group_,
           std::span(values.data, std::size_t(count)));
}

Index PartialSums::bytes() const {
  Index sum = sum_.bytes();
  for (const Matrix* each : {&summands_, &arrived_, &spread_, &leaving_}) sum += each->held_bytes();
  return sum;
}

}  // namespace atl
