#include "strategies/p3/push_pull_pass.h"

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

}  // namespace atl
