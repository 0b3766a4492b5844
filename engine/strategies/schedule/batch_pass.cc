#include "strategies/schedule/batch_pass.h"

namespace atl {

BatchFeed::BatchFeed(Communicator& comm, const BatchGraph& graph, const BatchFeedOptions& options)
    : comm_(comm),
      graph_(graph),
      options_(options),
      samplings_(batch_samplings(graph, comm, options.batches, options.ahead)) {}

void BatchFeed::stop() {
  waited_before_ = counts_.waited_seconds;
  stream_.reset();
}

void BatchFeed::start(std::int64_t step) {
  stop();
  end_ = options_.epochs * seeds().steps();
  if (step >= end_) end_ = step + seeds().steps();  // a benchmark runs beyond the job's epochs
  stream_.emplace(
      makers_of(samplings_, comm_.trace()),
      BatchStream::Options{
          .first = step, .end = end_, .ahead = options_.ahead, .held = options_.held, .comm = &comm_});
  next_ = step;
}

const StreamedBatch& BatchFeed::next() {
  const StreamedBatch& made = *stream_->next();
  ++next_;
  counts_.own_rows += made.fetched.own;
  counts_.gpu_rows += made.fetched.held;
  counts_.cached_rows += made.fetched.hits;
  counts_.fetched_rows += made.fetched.fetched;
  counts_.waited_seconds = waited_before_ + stream_->figures().waited_seconds;
  return made;
}

std::span<const VertexId> BatchFeed::owned_rows(const Batch& batch) {
  rows_.assign(batch.seeds().begin(), batch.seeds().end());
  for (VertexId& row : rows_) row -= VertexId(graph_.owners.first_row(comm_.rank()));
  return rows_;
}

BatchPass::BatchPass(Context& ctx, const Model& model, LayerRange layers, std::uint64_t seed)
    : Pass(ctx), layers_(layers), copies_(ctx), sums_(ctx.device) {
  state_.seed = seed;
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
  state_.step = step;
  state_.training = training;
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

void BatchPass::bind(int layer) {
  at_ = std::size_t(layer - layers_.first);
  state_.destinations = rows_[at_].outputs;
  const auto rows = std::size_t(state_.destinations);
  state_.ids = ids_.first(rows);
  const std::size_t set = sets_[at_];
  state_.weights = comm_ == nullptr ? std::span<const Real>() : weights_[set].first(rows);
  state_.reduced_rows = comm_ == nullptr ? double(rows) : totals_[set];
}

Gather& BatchPass::gather(const Rows& rows) {
  return gather_.start(blocks_[std::size_t(hops_[at_])], rows, {});
}

Gather& BatchPass::gather_back(const Rows& rows, MatrixView d_rows) {
  return gather_.start(blocks_[std::size_t(hops_[at_])], rows, d_rows);
}

}  // namespace atl
