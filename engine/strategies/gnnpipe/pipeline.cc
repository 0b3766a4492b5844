#include "strategies/gnnpipe/pipeline.h"

#include "comm/stream_watcher.h"
#include "strategies/exchange/figure_request.h"
#include "tensor/buffer.h"
#include "tensor/copies.h"

namespace atl {
namespace {

std::vector<Rank> ranks_of(const PipelineGrid& grid, int stage) {
  std::vector<Rank> ranks;
  for (int part = 0; part < grid.parts; ++part) ranks.push_back(grid.rank_of(stage, part));
  return ranks;
}

}  // namespace

Pipeline::Pipeline(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                   const GraphPart& part, std::span<const ChunkRows> chunks, double all_vertices,
                   const PipelineOptions& options)
    : ctx_(with_constants(ctx)),
      comm_(comm),
      trace_(comm.trace()),
      model_(model),
      parameters_(parameters),
      part_(part),
      chunks_(chunks),
      o_(options),
      stage_(options.grid.stage_of(comm.rank())),
      layers_(options.layers),
      group_(comm, ranks_of(options.grid, stage_)),
      runner_(ctx_, model, comm.trace()),
      whole_{0, is_first() ? whole_layers(model, part.features.packed()) : 0},
      inside_{is_first() ? whole_.end : layers_.first, layers_.end},
      tap_in_(tap_into(model, inside_)),
      tap_out_(tap_out_of(model, layers_)),
      from_previous_(ctx_, comm, comm.rank() - options.grid.parts, options.wire),
      from_next_(ctx_, comm, comm.rank() + options.grid.parts, options.wire),
      to_previous_(ctx_, comm, comm.rank() - options.grid.parts, options.wire),
      to_next_(ctx_, comm, comm.rank() + options.grid.parts, options.wire) {
  const bool trains = o_.passes != Passes::kInference;
  rows_ = std::make_unique<StageRows>(ctx.device, model, inside_, *part.graph,
                                      StageRowsOptions{trains, o_.historical_gradients});
  make_whole_layers(all_vertices);
  make_chunks();
  order_.resize(chunks.size());
}

void Pipeline::make_whole_layers(double all_vertices) {
  if (whole_.end == 0) return;
  std::vector<ExchangedLayer> exchanged;
  const int once = model_.constant_prefix();
  for (int l = 0; l < whole_.end; ++l)
    exchanged.push_back({.cols = layer(l).spec().gathered_columns(),
                         .gathers = layer(l).spec().gathers,
                         .fixed = l == 0,
                         .once = l < once});
  whole_exchange_ = make_exact_exchange(ctx_, comm_, part_, std::move(exchanged), true);
  whole_pass_ = std::make_unique<FullBatchPass>(
      ctx_, comm_, group_, part_, *whole_exchange_,
      std::vector<Index>(std::size_t(whole_.end), part_.graph->owned), o_.seed, all_vertices);
  if (once > 0) return compute_prefix();
  whole_memory_ = std::make_unique<PassMemory>(ctx_.device, model_, whole_, o_.passes);
  whole_memory_->place_output(0, rows_->present(whole_.end));
  const Index owned = part_.graph->owned;
  whole_memory_->shape({LayerRows{owned, owned, owned, whole_exchange_->source_rows(0)}});
}

/// Computes the input of the first layer that runs chunk by chunk (inside_). The input never changes, so it
/// needs no history.
void Pipeline::compute_prefix() {
  ATOLL_CHECK(!rows_->gathers(whole_.end), "a layer gathers what is computed once");
  const std::vector<Index> outputs(std::size_t(whole_.end), part_.graph->owned);
  compute_constant(model_, parameters_, *whole_pass_, part_.features, outputs, rows_->present(whole_.end));
}

void Pipeline::make_chunks() {
  pass_ = std::make_unique<ChunkPass>(
      ctx_, comm_, model_, part_, chunks_, *rows_, group_,
      ChunkPassOptions{o_.seed, o_.scale_gradient ? Real(2) : Real(1), o_.historical_gradients, o_.wire});
  const Index owned = part_.graph->owned;
  const auto width = [&](int l) { return layer(l).spec().out; };
  if (tap_in_ >= 0 && !is_first()) tap_.resize(owned, width(tap_in_), ctx_.device);
  const bool trains = o_.passes != Passes::kInference;
  if (trains && (tap_in_ >= 0 || tap_out_ >= 0))
    d_tap_.resize(owned, width(tap_in_ >= 0 ? tap_in_ : tap_out_), ctx_.device);
  if (trains && !is_first()) d_input_.resize(owned, layer(inside_.first).spec().in, ctx_.device);
  if (trains && !is_last()) {
    std::vector<Index> leave{layer(layers_.end).spec().in};
    if (tap_out_ >= 0) leave.push_back(width(tap_out_));
    to_next_.make_staging(owned, leave);
  }
  memories_ = std::make_unique<ChunkMemories>(ctx_, model_, inside_, o_.passes, chunks_, *rows_, *pass_,
                                              is_last() ? 1 : ChunkArrivals::kAhead);
  const ChunkReads reads = reads_of_group(comm_, group_, chunks_);
  std::vector<bool> gathers;
  for (int l = inside_.first; l < inside_.end; ++l) gathers.push_back(layer(l).spec().gathers);
  inferred_ = flow_order(reads);
  flow_ = chunk_flow(reads, inferred_, gathers);
}

MatrixView Pipeline::of_chunk(MatrixView all, int chunk) const {
  const ChunkRows& rows = chunks_[std::size_t(chunk)];
  return all.slice_rows(rows.begin, rows.rows());
}

void Pipeline::place_outputs() {
  if (whole_memory_) whole_memory_->place_output(0, rows_->present(whole_.end));
  memories_->place_outputs();
}

void Pipeline::keep_outputs(bool on) {
  if (whole_memory_) whole_memory_->keep_outputs(on);
  memories_->keep_outputs(on);
}

void Pipeline::enter(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

/// Tells the watcher which chunk is worked on; −1: none.
void Pipeline::work_on(int chunk) const {
  if (StreamWatcher* const watcher = comm_.stream_watcher()) watcher->works_on(chunk);
}

RangeInput Pipeline::input(int chunk) {
  RangeInput in;
  const ChunkRows& rows = chunks_[std::size_t(chunk)];
  in.rows = inside_.first == 0 ? Rows(part_.features.dense.slice_rows(rows.begin, rows.rows()))
                               : Rows(of_chunk(rows_->present(inside_.first), chunk));
  if (tap_in_ >= 0) in.tap = of_chunk(is_first() ? rows_->present(tap_in_ + 1) : tap_.view(), chunk);
  return in;
}

/// Where the gradients that leave a chunk go. The first stage has none, because features take no gradient,
/// unless a layer over all rows makes its chunks' input.
RangeGradient Pipeline::gradient(int chunk) {
  RangeGradient gradient;
  if (!is_first()) gradient.rows = of_chunk(d_input_, chunk);
  if (whole_memory_) gradient.rows = of_chunk(whole_memory_->d_output(), chunk);
  if (tap_in_ >= 0) gradient.tap = of_chunk(d_tap_, chunk);
  if (inside_.contains(tap_out_)) gradient.tapped = of_chunk(d_tap_, chunk);
  return gradient;
}

MatrixView Pipeline::d_output(int chunk) {
  return memories_->empty() ? of_chunk(whole_memory_->d_output(), chunk) : memories_->of(chunk).d_output();
}

void Pipeline::expect_rows(Traffic purpose, std::span<const int> order) {
  from_previous_.begin(purpose);
  for (const int c : order) {
    const MatrixView rows = of_chunk(rows_->present(inside_.first), c);
    from_previous_.expect(tap_in_ < 0 ? ChunkMatrices(rows) : ChunkMatrices(rows, of_chunk(tap_, c)));
  }
}

void Pipeline::expect_gradients() {
  from_next_.begin(Traffic::kStageGradient);
  for (std::size_t place = order_.size(); place > 0; --place) {
    const int c = order_[place - 1];
    const MatrixView rows = d_output(c);
    from_next_.expect(tap_out_ < 0 ? ChunkMatrices(rows) : ChunkMatrices(rows, of_chunk(d_tap_, c)));
  }
}

ChunkMatrices Pipeline::leaving(int chunk) {
  const MatrixView rows = of_chunk(rows_->present(layers_.end), chunk);
  if (tap_out_ < 0) return ChunkMatrices(rows);
  const bool passes_through = tap_in_ >= 0 && !is_first();
  return {rows, of_chunk(passes_through ? tap_.view() : rows_->present(tap_out_ + 1), chunk)};
}

void Pipeline::run_whole_layers(std::int64_t step, bool training) {
  if (!whole_memory_) return;
  whole_pass_->begin(step, training);
  whole_exchange_->begin(step, training);
  runner_.forward(*whole_pass_, parameters_.present(), *whole_memory_, {part_.features, {}});
}

void Pipeline::train(std::int64_t step, TrainingStep& session) {
  ATOLL_CHECK(o_.passes != Passes::kInference, "this schedule was made for inference");
  if (trace_ != nullptr) trace_->begin_epoch(step);
  step_ = step;
  place_outputs();
  put_chunk_order(order_, o_.shuffle, o_.seed, step);
  keep_outputs(refreshes_after(step));
  memories_->place_gradients(order_);
  forward_all(step);
  rows_->begin_backward(ctx_);
  if (tap_in_ >= 0 && tap_out_ < 0) fill(ctx_, 0, d_tap_);
  if (!is_last()) expect_gradients();
  for (std::size_t place = order_.size(); place > 0; --place) backward(place - 1, session);
  work_on(-1);
  if (whole_memory_) {
    RangeGradient gradient;
    if (whole_.contains(std::max(tap_in_, tap_out_))) gradient.tapped = d_tap_;
    runner_.backward(*whole_pass_, parameters_.present(), *whole_memory_, {part_.features, {}}, gradient,
                     &session);
  }
  if (whole_memory_) clock_.end_backward(0);
  to_next_.finish(), to_previous_.finish();
  constants_.end();
  enter(Work::kUpdate);
  session.update();
  refreshed_ = refreshes_after(step);
  if (refreshed_) rows_->refresh();
  enter(Work::kNone);
}

void Pipeline::forward_all(std::int64_t step) {
  pass_->begin_training(step, order_);
  constants_.begin(parameters_.trainable());
  clock_.begin_epoch(order_);
  if (whole_memory_) clock_.begin_forward(0);
  run_whole_layers(step, true);
  if (!is_first()) expect_rows(Traffic::kStage, order_);
  for (std::size_t place = 0; place < order_.size(); ++place) forward(place);
  work_on(-1);
}

void Pipeline::forward(std::size_t place) {
  const int chunk = order_[place];
  work_on(chunk);
  pass_->at_chunk(chunk);
  if (!is_first()) from_previous_.wait(place);
  clock_.begin_forward(place);
  if (!memories_->empty()) runner_.forward(*pass_, parameters_.present(), memories_->of(chunk), input(chunk));
  clock_.end_forward(place);
  if (!is_last()) to_next_.send(Traffic::kStage, leaving(chunk), chunks_[std::size_t(chunk)].begin);
}

/// Gradients of the weights are complete after the last chunk.
void Pipeline::backward(std::size_t place, TrainingStep& session) {
  const int chunk = order_[place];
  work_on(chunk);
  pass_->at_chunk(chunk);
  if (!is_last()) from_next_.wait(order_.size() - 1 - place);
  clock_.begin_backward(place);
  if (is_last()) {
    enter(Work::kLoss);
    LossRows rows;
    rows.first = chunks_[std::size_t(chunk)].begin;
    session.loss(of_chunk(rows_->present(layers_.end), chunk), rows, d_output(chunk));
  }
  const RangeGradient leaves = gradient(chunk);
  if (!memories_->empty())
    runner_.backward(*pass_, parameters_.present(), memories_->of(chunk), input(chunk), leaves,
                     place == 0 ? &session : nullptr);
  clock_.end_backward(place);
  if (is_first()) return;
  to_previous_.send_in_place(Traffic::kStageGradient, tap_in_ < 0 ? ChunkMatrices(leaves.rows)
                                                                  : ChunkMatrices(leaves.rows, leaves.tap));
}

/// Computes the step's outputs again, because backward has reused their memory. They are the same: a gradient
/// wasn't finite, so no weight changed; draws are keyed by the step; the history that the step read is still
/// there. If only the loss wasn't finite, they are those of the weights after the step.
StageNonFinite Pipeline::recount_non_finite() {
  if (refreshed_) rows_->refresh();  // swaps back
  place_outputs();
  forward_all(step_);
  to_next_.finish(), constants_.end();
  Buffer<double> counts(ctx_.device, Index(model_.layers.size()));
  zero_sums(ctx_, counts.span());
  for (int l = whole_.end > 0 ? whole_.end - 1 : inside_.first; l < inside_.end; ++l)
    atl::count_non_finite(ctx_, rows_->present(l + 1), counts.data() + l);
  return {stage_, read(ctx_, std::span<const double>(counts.span()))};
}

void Pipeline::report(FigureRequest& request) {
  if (clock_.times().empty()) return;
  request.offer<StageTimes>([&] {
    int convolutions = 0;
    for (int l = layers_.first; l < layers_.end; ++l) convolutions += layer(l).spec().gathers ? 1 : 0;
    return StageTimes{stage_, convolutions, o_.grid.part_of(comm_.rank()) == 0, clock_.times()};
  });
  request.offer<StageNonFinite>([&] { return recount_non_finite(); });
}

ScheduleBytes Pipeline::bytes() const {
  ScheduleBytes bytes;
  rows_->count(bytes);
  memories_->count(bytes);
  if (whole_memory_) whole_memory_->count(bytes);
  bytes.activations += tap_.held_bytes();
  bytes.gradients += d_tap_.held_bytes() + d_input_.held_bytes();
  bytes.halo += to_next_.bytes() + pass_->bytes();
  if (whole_exchange_) bytes.halo += whole_exchange_->bytes();
  return bytes;
}

}  // namespace atl
