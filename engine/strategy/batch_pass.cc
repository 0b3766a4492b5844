#include "strategy/batch_pass.h"

namespace atl {

BatchPass::BatchPass(Context& ctx, const Model& model, LayerRange layers, std::uint64_t seed)
    : ctx_(ctx), seed_(seed), layers_(layers), copies_(ctx), sums_(ctx.device) {
  int hop = 0;
  for (int l = layers.first; l < layers.end; ++l) hops_.push_back(model.spec(l).gathers ? hop++ : -1);
  for (int l = layers.first, left = hop; l < layers.end; ++l) {
    if (hops_[std::size_t(l - layers.first)] >= 0) --left;
    sets_.push_back(std::size_t(left));
  }
  blocks_.resize(std::size_t(hop));
  rows_.resize(hops_.size());
  for (LayerRows& each : rows_) each.sources.resize(1);
}

void BatchPass::begin(const Batch& batch, std::int64_t step, bool training) {
  copies_.restart();
  ids_ = copies_.of(batch.ids());
  for (std::size_t hop = 0; hop < blocks_.size(); ++hop)
    blocks_[hop] = on_device(copies_, batch.block(int(hop)));
  step_ = step;
  training_ = training;
  Index rows = batch.input_rows(0);
  for (std::size_t l = 0; l < hops_.size(); ++l) {
    LayerRows& of = rows_[l];
    of.inputs = of.sources[0] = hops_[l] >= 0 ? batch.sources(hops_[l]) : rows;
    if (hops_[l] >= 0) rows = batch.output_rows(hops_[l]);
    of.outputs = of.destinations = rows;
  }
  ATOLL_CHECK(rows == Index(batch.seeds().size()), "{} rows come out for {} seeds", rows,
              batch.seeds().size());
}

void BatchPass::share(Communicator& comm, const SharedRows& shares) {
  comm_ = &comm;
  weights_.clear();
  for (const auto& each : shares.weights) weights_.push_back(copies_.of(each.span()));
  totals_ = shares.owned;
  comm.all_reduce(Traffic::kStatistics, std::span<double>(totals_));
}

std::span<const Real> BatchPass::row_weights() const {
  if (comm_ == nullptr) return {};
  return weights_[sets_[at_]].first(std::size_t(destinations()));
}

Gather& BatchPass::gather(const Rows& rows) {
  return gather_.start(blocks_[std::size_t(hops_[at_])], rows, {});
}

Gather& BatchPass::gather_back(const Rows& rows, MatrixView d_rows) {
  return gather_.start(blocks_[std::size_t(hops_[at_])], rows, d_rows);
}

}  // namespace atl
