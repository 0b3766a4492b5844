#include "strategies/gnnpipe/chunk_pass.h"

#include <algorithm>
#include <utility>

namespace atl {
namespace {

constexpr ScratchKey kOuterGradients;  // of a chunk's outer rows

Index widest_gathered(const Model& model, const LayerRange& layers) {
  Index widest = 0;
  for (int l = std::max(1, layers.first); l < layers.end; ++l)
    if (model.spec(l).gathers) widest = std::max(widest, model.spec(l).in);
  return widest;
}

}  // namespace

/// The history begins with zeros, so that neighbours that were never computed are zero.
StageRows::StageRows(Device device, const Model& model, const LayerRange& layers, const LocalGraph& graph,
                     const StageRowsOptions& options)
    : layers_(layers), owned_(graph.owned), halo_(graph.halo), options_(options) {
  constexpr Index kMost = (Index(1) << 30) - 1;  // a VertexId numbers the rows of two epochs
  if (options.trains && owned_ + halo_ > kMost)
    fail(
        "strategy.gnnpipe: a rank keeps {} rows of two epochs each, and {} at most (use more placement.ranks)",
        owned_ + halo_, kMost);
  for (int l = layers.first; l <= layers.end; ++l) {
    Layer& input = inputs_.emplace_back();
    const bool inside = l < layers.end;
    input.gathers = inside && l > 0 && model.spec(l).gathers;
    const Index width = inside ? model.spec(l).in : model.spec(l - 1).out;
    if (l == 0) continue;  // features
    const Index all = owned_ + halo_;
    input.rows.resize(!input.gathers ? owned_ : options.trains ? 2 * all : all, width, device);
    if (!input.gathers || !options.trains) continue;
    input.rows.zero();
    input.gradient.resize(all, width, device);
    if (!options.historical_gradients) continue;
    input.historical.resize(all, width, device);
    input.historical.zero();
  }
  known_.resize(1, 1);
  known_.zero();
}

void StageRows::refresh() {
  present_ = 1 - present_;
  known_.view().at(0, 0) = 1;
}

MatrixView StageRows::slice(int layer, Index half, Index first, Index count) {
  const Index begin = at(layer).gathers ? half * (owned_ + halo_) + first : first;
  return at(layer).rows.view().slice_rows(begin, count);
}

void StageRows::begin_backward(Context& ctx) {
  for (Layer& each : inputs_) {
    if (each.gradient.rows() == 0) continue;
    if (options_.historical_gradients) std::swap(each.gradient, each.historical);
    fill(ctx, 0, options_.historical_gradients ? each.historical : each.gradient);
  }
}

std::vector<NamedMatrix> StageRows::state() {
  std::vector<NamedMatrix> all;
  for (int l = layers_.first; options_.trains && l < layers_.end; ++l) {
    if (!gathers(l)) continue;
    all.push_back({fmt::format("layers.{}.history", l), history(l), at(l).rows.device()});
    if (options_.historical_gradients)
      all.push_back(
          {fmt::format("layers.{}.late_gradient", l), at(l).historical.view(), at(l).historical.device()});
  }
  if (!all.empty()) all.push_back({"history", known_.view(), known_.device()});
  return all;
}

void StageRows::count(ScheduleBytes& bytes) const {
  for (const Layer& each : inputs_) {
    const Index rows = each.rows.held_bytes(), history = each.gathers && options_.trains ? rows / 2 : 0;
    bytes.activations += rows - history;
    bytes.halo += history;
    bytes.gradients += each.gradient.held_bytes() + each.historical.held_bytes();
  }
}

ChunkPass::ChunkPass(Context& ctx, Communicator& comm, const Model& model, const GraphPart& part,
                     std::span<const ChunkRows> chunks, StageRows& rows, const RankGroup& group,
                     const ChunkPassOptions& options)
    : Pass(ctx),
      comm_(comm),
      model_(model),
      part_(part),
      chunks_(chunks),
      rows_(rows),
      group_(group),
      options_(options),
      transfer_(ctx, comm),
      place_(chunks.size()),
      picked_(chunks.size()),
      copies_(ctx),
      picks_(chunks.size()),
      reads_copies_(ctx) {
  state_.seed = options.seed;
  boundary_set_.reserve(chunks.size());
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    const ChunkRows& chunk = chunks[k];
    boundary_set_.emplace_back(ctx, *part.graph, part.outer, k, options.wire);
    chunk_rows_.push_back(double(chunk.rows()));
    picked_[k].resize(chunk.reads.size());
    reads_.push_back(reads_copies_.of(chunk.reads));
    most_reads_ = std::max(most_reads_, Index(chunk.reads.size()));
  }
  comm.all_reduce(Traffic::kSetup, group, std::span(chunk_rows_));
  Index sent = 0;
  for (const ChunkBoundarySet& each : boundary_set_) sent = std::max(sent, each.sent());
  boundary_.resize(sent, widest_gathered(model, rows.layers()), ctx.device);
}

Index ChunkPass::bytes() const {
  Index sum = boundary_.held_bytes() + copies_.bytes() + reads_copies_.bytes();
  for (const ChunkBoundarySet& each : boundary_set_) sum += each.bytes();
  for (const std::vector<VertexId>& each : picked_) sum += Index(each.capacity() * sizeof(VertexId));
  return sum;
}

LayerRows ChunkPass::rows_of(int layer, int chunk) const {
  const ChunkRows& rows = chunks_[std::size_t(chunk)];
  LayerRows of{rows.rows(), rows.rows(), rows.rows(), {}};
  if (model_.spec(layer).gathers) of.sources = {rows.rows(), Index(rows.reads.size())};
  return of;
}

/// Lists where the rows lie that each chunk reads, which differs from epoch to epoch. Rows of chunks that are
/// done by then lie among this epoch's rows, the others in the history.
void ChunkPass::begin_training(std::int64_t step, std::span<const int> order) {
  state_.step = step, state_.training = true;
  for (std::size_t i = 0; i < order.size(); ++i) place_[std::size_t(order[i])] = int(i);
  copies_.restart();
  for (chunk_ = 0; chunk_ < chunks_.size(); ++chunk_) {
    Index i = 0;
    for (const ChunkRun& run : here().runs) {
      const Index first = is_done(run.chunk) ? rows_.first_present() : rows_.first_history();
      for (; i < run.end; ++i)
        picked_[chunk_][std::size_t(i)] = VertexId(here().reads[std::size_t(i)] + first);
    }
    picks_[chunk_] = copies_.of(std::span<const VertexId>(picked_[chunk_]));
  }
}

void ChunkPass::begin_inference() {
  state_.step = 0, state_.training = false;
}

void ChunkPass::at_chunk(int chunk) {
  chunk_ = std::size_t(chunk);
  state_.destinations = here().rows();
  state_.ids = here().own.dst_ids;
  state_.reduced_rows = chunk_rows_[chunk_];
}

void ChunkPass::exchange(int layer, int chunk) {
  layer_ = layer;
  at_chunk(chunk);
  fetch(Traffic::kEvaluation).wait();
}

/// Fetches the halo rows of the present chunk and layer.
PendingTransfer ChunkPass::fetch(Traffic purpose) {
  if (group_.size() == 1) return {};
  ChunkBoundarySet& boundary_set = boundary_set_[chunk_];
  const ConstMatrixView rows = rows_.present(layer_);
  const MatrixView packed(boundary_.data(), boundary_set.sent(), rows.cols);
  return transfer_.fetch(boundary_set, state_.step, purpose, rows, packed, rows_.present_halo(layer_));
}

MatrixView ChunkPass::outer_rows(Index cols) {
  static constexpr ScratchKey kOuter;
  return ctx_.workspace->matrix(kOuter, Index(here().reads.size()), cols);
}

ConstMatrixView ChunkPass::gathered_outer() {
  ConstMatrixView all = rows_.both(layer_);
  const MatrixView outer = outer_rows(all.cols);
  if (!state_.training) all = all.slice_rows(rows_.first_present(), all.rows - rows_.first_present());
  gather_rows(ctx_, all, state_.training ? picks_[chunk_].data() : reads_[chunk_].data(), outer);
  return outer;
}

Gather& ChunkPass::There::start(const Rows& rows) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  rows_ = rows;
  pending_ = {};
  if (pass_.state_.training && !pass_.state_.repeating) pending_ = pass_.fetch(Traffic::kHalo);
  step_ = Step::kOwn;
  return *this;
}

const Source* ChunkPass::There::next() {
  const ChunkRows& chunk = pass_.here();
  const bool reads_others = !chunk.reads.empty();
  switch (step_) {
    case Step::kOwn:
      step_ = Step::kOuter;
      source_ = {&chunk.own, rows_, 0, true, !reads_others, {}};
      return &source_;
    case Step::kOuter:
      step_ = Step::kEnd;
      pending_.wait();
      if (!reads_others) return nullptr;
      source_ = {&chunk.outer, Rows(pass_.gathered_outer()), 1, false, true, {}};
      return &source_;
    case Step::kEnd:
      break;
  }
  return nullptr;
}

Gather& ChunkPass::Back::start(const Rows& rows, MatrixView d_rows) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  rows_ = rows, d_rows_ = d_rows;
  step_ = Step::kOuter;
  return *this;
}

const Source* ChunkPass::Back::next() {
  const ChunkRows& chunk = pass_.here();
  const bool reads_others = !chunk.reads.empty();
  switch (step_) {
    case Step::kOuter:
      step_ = Step::kOwn;
      if (reads_others) {
        const Layer& layer = *pass_.model_.layers[std::size_t(pass_.layer_)];
        const ConstMatrixView outer = layer.spec().rows_in_backward
                                          ? pass_.gathered_outer()
                                          : ConstMatrixView(pass_.outer_rows(layer.spec().in));
        d_outer_ = {};
        if (d_rows_.cols > 0)
          d_outer_ = pass_.ctx_.workspace->matrix(kOuterGradients, outer.rows, outer.cols);
        source_ = {&chunk.outer, Rows(outer), 1, false, false, d_outer_};
        return &source_;
      }
      [[fallthrough]];
    case Step::kOwn:
      step_ = Step::kAdd;
      if (reads_others && d_rows_.cols > 0) pass_.add_outer(d_outer_);
      if (d_rows_.cols > 0) send_gradients();
      source_ = {&chunk.own, rows_, 0, true, true, d_rows_};
      return &source_;
    case Step::kAdd:
      step_ = Step::kEnd;
      if (d_rows_.cols > 0) add();
      break;
    case Step::kEnd:
      break;
  }
  return nullptr;
}

/// Adds the gradients of fresh rows, whose chunks go backward later. Those of other rows serve the next
/// epoch, or nobody.
void ChunkPass::add_outer(ConstMatrixView d_outer) {
  if (options_.gradient_scale != 1)
    scale(ctx_, options_.gradient_scale, ctx_.workspace->matrix(kOuterGradients, d_outer.rows, d_outer.cols));
  const std::span<const ChunkRun> runs = here().runs;
  Index begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool fresh = is_done(runs[i].chunk);
    if (i + 1 < runs.size() && is_done(runs[i + 1].chunk) == fresh) continue;  // joined with the next run
    const Index count = runs[i].end - begin;
    const MatrixView into = fresh ? rows_.gradient(layer_) : rows_.historical_gradient(layer_);
    if (fresh || options_.historical_gradients)
      scatter_add_rows(ctx_, d_outer.slice_rows(begin, count), reads_[chunk_].data() + begin, into);
    begin = runs[i].end;
  }
}

/// Called when all readers of this chunk's rows here have added to the gradients.
void ChunkPass::Back::send_gradients() {
  if (pass_.group_.size() == 1) return;
  ChunkBoundarySet& boundary_set = pass_.boundary_set_[pass_.chunk_];
  const LocalGraph& graph = *pass_.part_.graph;
  received_ = MatrixView(pass_.boundary_.data(), boundary_set.sent(), d_rows_.cols);
  pending_ = pass_.transfer_.send_gradients(
      boundary_set, pass_.state_.step, pass_.rows_.gradient(pass_.layer_).slice_rows(graph.owned, graph.halo),
      received_);
}

void ChunkPass::Back::add() {
  const ChunkRows& chunk = pass_.here();
  const MatrixView gradient = pass_.rows_.gradient(pass_.layer_).slice_rows(0, pass_.part_.graph->owned);
  pending_.wait();
  if (pass_.group_.size() > 1)
    pass_.transfer_.add(pass_.boundary_set_[pass_.chunk_], pass_.state_.step, received_, gradient);
  axpby(pass_.ctx_, 1, gradient.slice_rows(chunk.begin, chunk.rows()), pass_.options_.gradient_scale,
        d_rows_);
}

}  // namespace atl
