#include "strategy/push_pull/partial_sums.h"

#include "comm/all_reduce.h"
#include "tensor/kernels.h"

namespace atl {

PartialSums::PartialSums(Context& ctx, Communicator& comm, const ColumnShare& share, Precision wire)
    : ctx_(ctx), comm_(comm), share_(share), group_(comm, share.group), wire_(ctx, wire) {}

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
  exchange(Traffic::kPartial);
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
  exchange(Traffic::kPartialGradient);
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
  constexpr Index kWidth = sizeof(Real);
  const Index count = values.rows * values.cols;
  const Index terms = all_reduce_memory(group_.size(), group_.place(), count, kWidth) / kWidth;
  const bool is_hosts = memory_of(ctx_.device).is_hosts;
  if (terms_.grow(1, terms, is_hosts ? ctx_.device : Device::kCpu, true)) ++growths_;
  Real* summed = values.data;
  if (!is_hosts) {
    if (staged_.grow(1, count, Device::kCpu, true)) ++growths_;
    ctx_.stream->download(summed = staged_.data(), values.data, std::size_t(count * kWidth));
  }
  const std::span room(terms_.data(), std::size_t(terms));
  comm_
      .begin_all_reduce(goes_back_ ? Traffic::kPartialGradient : Traffic::kPartial, group_,
                        {summed, std::size_t(count)}, std::as_writable_bytes(room), ctx_.stream)
      .wait();
  if (!is_hosts) ctx_.stream->upload(values.data, staged_.data(), std::size_t(count * kWidth));
}

Index PartialSums::bytes() const {
  Index sum = 0;
  for (const Matrix* each : {&summands_, &arrived_, &spread_, &leaving_, &terms_, &staged_})
    sum += each->held_bytes();
  return sum;
}

}  // namespace atl
