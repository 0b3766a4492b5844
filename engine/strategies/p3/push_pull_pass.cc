#include "strategies/p3/push_pull_pass.h"

#include "tensor/kernels.h"

namespace atl {

GroupBatchOptions group_options(const Model& model) {
  const SplitLayers split(model);
  const bool goes_back = model.spec(split.whole).gathers;
  return {.hops = split.hops,
          .normalisation = model.needs.normalisation,
          .transposed = goes_back,
          .places = goes_back && model.needs.attention};
}

PushPullPass::PushPullPass(Context& ctx, Communicator& comm, const Model& model, const ColumnShare& share,
                           const PushPullPassOptions& options)
    : Pass(ctx),
      split_(model),
      is_split_(share.is_split()),
      first_column_(share.first()),
      own_(ctx, model, {0, options.end}, options.seed),
      sums_(ctx, comm, share, options.wire, options.traffic),
      copies_(ctx),
      blocks_(std::size_t(split_.hops)) {}

void PushPullPass::begin(const Batch& batch, const GroupBatch& group, std::int64_t step, bool training) {
  own_.begin(batch, step, training);
  state_ = own_.state();
  copies_.restart();
  ids_ = copies_.of(group.ids());
  for (int hop = 0; hop < split_.hops; ++hop)
    blocks_[std::size_t(hop)] = on_device(copies_, group.block(hop));
  sums_.begin(group);
  group_ids_ = ids_.first(std::size_t(group.whole_rows()));
  rows_ = own_.rows();
  for (int l = 0; l < split_.whole; ++l) {
    LayerRows& of = rows_[std::size_t(l)];
    of.inputs = of.sources[0] = group.sources(l);
    of.outputs = of.destinations = group.destinations(l);
  }
  LayerRows& whole = rows_[std::size_t(split_.whole)];
  whole.inputs = whole.sources[0] =
      split_.hops > split_.whole ? group.sources(split_.whole) : group.whole_rows();
  whole.destinations = group.whole_rows();
}

void PushPullPass::bind(int layer) {
  at_ = std::size_t(layer);
  own_.repeat(state_.repeating);
  own_.bind(layer);
  state_ = own_.state();
  if (is_split_ && layer == split_.whole)
    state_.columns = &sums_, state_.first_column = first_column_, state_.group_ids = group_ids_;
  if (layer >= split_.whole) return;
  state_.destinations = rows_[at_].outputs;
  state_.ids = ids_.first(std::size_t(state_.destinations));
}

Gather& PushPullPass::gather(const Rows& rows) {
  return gather_back(rows, {});
}

Gather& PushPullPass::gather_back(const Rows& rows, MatrixView d_rows) {
  if (int(at_) > split_.whole) return own_.gather_back(rows, d_rows);
  return gather_.start(blocks_[at_], rows, d_rows);
}

PartialSums::PartialSums(Context& ctx, Communicator& comm, const ColumnShare& share, Precision wire,
                         const PartialTraffic& traffic)
    : ctx_(ctx),
      comm_(comm),
      share_(share),
      group_(comm, share.group),
      wire_(ctx, wire),
      whole_(ctx, Precision::kFloat32),
      in_use_(wire_),
      traffic_(traffic),
      sum_(ctx.device) {}

void PartialSums::begin(const GroupBatch& batch) {
  batch_ = &batch;
  goes_back_ = false;
}

MatrixView PartialSums::sized(Matrix& memory, Index rows, Index cols) {
  if (memory.grow(1, rows * cols, ctx_.device, true)) ++reallocations_;
  return {memory.data(), rows, cols};
}

MatrixView PartialSums::summands(Index cols) {
  return sized(summands_, batch_->whole_rows(), cols);
}

/// Where the summands of own rows arrive that `member` sends.
MatrixView PartialSums::arrived_from(int member, Index cols) {
  const Index own = batch_->whole_count(share_.place), place = member - (member > share_.place ? 1 : 0);
  return MatrixView(arrived_.data(), own * (share_.members() - 1), cols).slice_rows(place * own, own);
}

void PartialSums::exchange(Traffic purpose) {
  under_way_ = comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
  sends_.clear(), receives_.clear();
}

void PartialSums::begin_whole(MatrixView summands, Rounding rounding) {
  use(rounding);
  cols_ = summands.cols;
  sized(arrived_, batch_->whole_count(share_.place) * (share_.members() - 1), summands.cols);
  for (int m = 0; m < share_.members(); ++m) {
    if (m == share_.place) continue;
    const Rank peer = share_.group[std::size_t(m)];
    sends_.push_back(in_use_.pack(of(m, summands)).message(peer));
    receives_.push_back(in_use_.packed(arrived_from(m, summands.cols)).message(peer));
  }
  exchange(traffic_.forward);
}

void PartialSums::end_whole(FunctionRef<void(MatrixView)> add) {
  under_way_.wait();
  const MatrixView summands(summands_.data(), batch_->whole_rows(), cols_);
  for (int m = 0; m < share_.members(); ++m) {
    const bool own = m == share_.place;
    const MatrixView term = own ? of(m, summands) : arrived_from(m, cols_);
    if (!own) in_use_.unpack(term);
    add(term);
  }
}

void PartialSums::begin_spread(Index cols, Rounding rounding, FunctionRef<void(MatrixView)> write) {
  use(rounding);
  goes_back_ = true;
  cols_ = cols;
  const MatrixView spread = sized(spread_, batch_->whole_rows(), cols), own = of(share_.place, spread);
  write(own);
  const PackedRows leaves =
      in_use_.pack_copy(own, sized(leaving_, own.rows, in_use_.copied_columns(own.cols)));
  for (int m = 0; m < share_.members(); ++m) {
    if (m == share_.place) continue;
    const Rank peer = share_.group[std::size_t(m)];
    sends_.push_back(leaves.message(peer));
    receives_.push_back(in_use_.packed(of(m, spread)).message(peer));
  }
  exchange(traffic_.back);
}

MatrixView PartialSums::end_spread() {
  under_way_.wait();
  const MatrixView spread(spread_.data(), batch_->whole_rows(), cols_);
  for (int m = 0; m < share_.members(); ++m)
    if (m != share_.place) in_use_.unpack(of(m, spread));
  return spread;
}

void PartialSums::sum(MatrixView values) {
  ATOLL_CHECK(values.contiguous(), "scores of stride {} with {} columns", values.stride, values.cols);
  const Index count = values.rows * values.cols;
  if (sum_.reserve(ctx_, group_, count, Index(sizeof(Real)))) ++reallocations_;
  sum_.sum(ctx_, comm_, goes_back_ ? traffic_.back : traffic_.forward, group_,
           std::span(values.data, std::size_t(count)));
}

Index PartialSums::bytes() const {
  Index sum = sum_.bytes();
  for (const Matrix* each : {&summands_, &arrived_, &spread_, &leaving_}) sum += each->held_bytes();
  return sum;
}

}  // namespace atl
