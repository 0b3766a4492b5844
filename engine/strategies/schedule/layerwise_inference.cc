#include "strategies/schedule/layerwise_inference.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace atl {
namespace {

int tapped_layer(const Model& model) {
  int tapped = -1;
  for (const auto& each : model.layers)
    if (each->spec().tap >= 0) tapped = each->spec().tap;
  return tapped;
}

}  // namespace

Index slab_bytes(Index memory) {
  constexpr Index kMost = Index(64) << 20;
  return memory > 0 ? std::min(kMost, memory / 8) : kMost;
}

LayerRange slab_layers(const Model& model, const LayerRange& layers) {
  return {layers.first, layers.end < 0 ? int(model.layers.size()) : layers.end};
}

std::vector<LayerRange> slab_segments(const Model& model, const LayerRange& of) {
  std::vector<LayerRange> segments;
  const LayerRange range = slab_layers(model, of);
  const int layers = int(model.layers.size()), tapped = tapped_layer(model);
  for (int l = range.first; l < range.end; ++l) {
    const bool begins = l == range.first || model.spec(l).gathers || l == tapped + 1 || l + 1 == layers;
    if (begins) segments.push_back({l, l});
    segments.back().end = l + 1;
  }
  return segments;
}

/// Divides the rank's rows into slabs of at most `bytes` bytes. A slab counts as having a source for each of
/// its rows and each of its arcs, which is the most there can be. In layers that work in place, a slab holds
/// only the columns that they gather.
std::vector<Index> slab_begins(const Model& model, const CsrView& graph, const Owners& owners, Rank rank,
                               Index bytes, Index width, const LayerRange& layers) {
  Index widest = std::max<Index>(1, width);
  const LayerRange range = slab_layers(model, layers);
  const int in_place = first_in_place(model, range);
  for (int l = range.first; l < range.end; ++l) {
    const LayerSpec& spec = model.spec(l);
    const bool appends = l >= in_place && spec.appends;
    widest = std::max({widest, l > in_place ? spec.gathered_columns() : spec.in, appends ? 0 : spec.out});
  }
  const Index most = std::max<Index>(1, bytes / (widest * Index(sizeof(Real))));
  const Index first = owners.first_row(rank), rows = owners.rows(rank);
  std::vector<Index> begins{0};
  Index held = 0;
  for (Index row = 0; row < rows; ++row) {
    const Index reads = 1 + graph.offsets[first + row + 1] - graph.offsets[first + row];
    if (held > 0 && held + reads > most) {
      begins.push_back(row);
      held = 0;
    }
    held += reads;
  }
  begins.push_back(rows);
  return begins;
}

std::unique_ptr<Structure> whole_structure(const BatchGraph& graph, Communicator& comm, ThreadPool& pool,
                                           bool mapped, const RowRoute& route) {
  return mapped ? mapped_structure(graph.whole, pool)
                : partitioned_structure(graph.whole, graph.owners, comm, pool, route);
}

SamplingOptions slab_sampling(const Model& model, const LayerRange& layers) {
  SamplingOptions sampling{.normalisation = model.needs.normalisation,
                           .attention = model.needs.attention,
                           .transpose_input = false};
  if (model.spec(layers.first).gathers) sampling.fanout = {kAllNeighbours};
  return sampling;
}

LayerwiseInference::LayerwiseInference(Context& ctx, Communicator& comm, const Model& model,
                                       Parameters& parameters, const BatchGraph& graph,
                                       const SlabOptions& options)
    : ctx_(ctx),
      comm_(comm),
      model_(model),
      parameters_(parameters),
      graph_(graph),
      options_(options),
      layers_(slab_layers(model, options.layers)),
      in_place_(first_in_place(model, layers_)),
      runner_(ctx, model, comm.trace()),
      host_{Device::kCpu, ctx.pool, &host_workspace_},
      copies_(ctx),
      structure_(whole_structure(graph, comm, *ctx.pool, options.mapped, options.route)),
      slabs_(slab_begins(model, graph.whole.whole, graph.owners, comm.rank(), options.bytes, options.width,
                         layers_)),
      sourced_(ctx) {
  if (!memory_of(ctx.device).is_hosts) {
    own_.resize(std::size_t(graph.owners.rows(comm.rank())));
    std::iota(own_.begin(), own_.end(), VertexId(0));
  }
  make_segments();
  align_slabs();
}

void LayerwiseInference::make_segments() {
  tapped_ = tapped_layer(model_);
  for (const LayerRange& layers : slab_segments(model_, layers_)) {
    segments_.push_back({layers, std::make_unique<Sampler>(*structure_, slab_sampling(model_, layers)),
                         std::make_unique<BatchPass>(ctx_, model_, layers, options_.seed),
                         std::make_unique<PassMemory>(ctx_.device, model_, layers, Passes::kInference)});
  }
}

void LayerwiseInference::align_slabs() {
  const std::int64_t count = std::int64_t(slabs_.size());
  for (const auto& theirs : comm_.all_gather(Traffic::kSetup, std::as_bytes(std::span(&count, 1)))) {
    std::int64_t other = 0;
    std::memcpy(&other, theirs.data(), sizeof other);
    if (other > Index(slabs_.size())) slabs_.resize(std::size_t(other), slabs_.back());
  }
}

Matrix& LayerwiseInference::output_of(const Segment& segment) {
  if (segment.layers.end > in_place_) return logits_;
  if (segment.layers.end == tapped_ + 1) return tap_;
  return buffers_[(&segment - segments_.data()) % 2];
}

/// The memory for a segment's output. Layers that work in place write the first columns of the last layer's
/// output.
MatrixView LayerwiseInference::room_for(const Segment& segment, Index rows) {
  const int last = segment.layers.end - 1;
  const Index cols = layer(last).spec().out;
  if (last >= in_place_ && options_.output.cols > 0) return options_.output.slice_cols(0, cols);
  Matrix& memory = output_of(segment);
  if (last <= in_place_)
    memory.resize(rows, last < in_place_ ? cols : layer(layers_.end - 1).spec().out, ctx_.device);
  return memory.view().slice_cols(0, cols);
}

LayerwiseInference::Input LayerwiseInference::features() const {
  if (options_.input != nullptr || options_.first != nullptr)
    return {Rows(ConstMatrixView(nullptr, graph_.owners.rows(comm_.rank()), 0)), true};
  if (options_.features == nullptr) return {graph_.features, true};
  return {graph_.features, true, options_.features->places(), options_.features->rows()};
}

LayerwiseInference::Input LayerwiseInference::made(ConstMatrixView rows) const {
  return {rows, false, {own_}, {rows}};
}

ConstMatrixView LayerwiseInference::infer() {
  const Index rows = graph_.owners.rows(comm_.rank());
  Input in = layers_.first > 0 ? made(options_.input_rows) : features();
  // Layers' outputs lie where kernels read them. Features lie in the host's memory, and are copied if they
  // are the last layer's input.
  const bool ends_with_features = segments_.size() == 1 && in.is_features;
  for (Segment& each : segments_) {
    const MatrixView out = room_for(each, rows);
    const bool reads_tap = tapped_ >= 0 && each.layers.first > tapped_;
    if (options_.first != nullptr && each.layers.first == 0)
      options_.first->infer(slabs_, out);
    else
      run(each, in, reads_tap ? ConstMatrixView(tap_) : ConstMatrixView(), out);
    last_input_ = in.rows.dense;
    in = made(out);
  }
  if (ends_with_features) last_input_ = copies_.of(last_input_);
  if (comm_.trace() != nullptr) comm_.trace()->leave();
  return in.rows.dense;
}

/// The input for the batch of a slab that begins with own row `begin`, where kernels read it.
RangeInput LayerwiseInference::input_rows(const Segment& segment, const Input& in, FeatureStore& store,
                                          Index begin) {
  copies_.restart();
  if (in.is_features && options_.input != nullptr) {
    options_.input->fetch(batch_, inputs_.dense);
    return {copies_.of(std::as_const(inputs_.dense).view()), {}};
  }
  const bool gathers = layer(segment.layers.first).spec().gathers;
  const auto count = Index(batch_.seeds().size());
  if (!gathers && !in.is_features) return {Rows(in.rows.dense.slice_rows(begin, count)), {}};
  if (!gathers && in.rows.packed()) {
    slab_.resize(std::size_t(count));
    std::iota(slab_.begin(), slab_.end(), VertexId(begin));
    inputs_.gather(*ctx_.pool, in.rows, slab_, graph_.sparse);
    return {copies_.of(inputs_.rows()), {}};
  }
  if (!gathers) {
    const ConstMatrixView here =
        options_.features == nullptr ? ConstMatrixView() : options_.features->whole();
    if (here.rows > 0) return {Rows(here.slice_rows(begin, count)), {}};
    return {Rows(copies_.of(in.rows.dense.slice_rows(begin, count))), {}};
  }
  store.fetch(batch_.rows(), sources_, inputs_);
  inputs_.take_self(batch_.first_destinations());
  const SourcedRows::Input rows = sourced_.of(sources_, in.places, inputs_);
  return {rows.rows, {}, rows.self};
}

LayerwiseInference::Input LayerwiseInference::gathered(const Segment& segment, const Input& in) const {
  if (!appends(segment) || segment.layers.first == in_place_) return in;
  const LayerSpec& spec = layer(segment.layers.first).spec();
  return made(in.rows.dense.slice_cols(spec.in - spec.gathered_columns(), spec.gathered_columns()));
}

/// Runs a layer that appends to its input. `out` has the input of own rows already, except in the first of
/// these layers, which copies it there.
void LayerwiseInference::append(Segment& segment, const RangeInput& input, MatrixView out) {
  const int l = segment.layers.first;
  if (comm_.trace() != nullptr) comm_.trace()->enter(Work::kEvaluation, l);
  const ConstMatrixView self = l > in_place_ ? ConstMatrixView(out.slice_cols(0, layer(l).spec().in))
                                             : input.rows.dense.slice_rows(0, out.rows);
  Saved none;
  segment.pass->bind(l);
  layer(l).forward(*segment.pass, {parameters_.present(), l}, {input.rows, Rows(self), {}}, none, out);
}

void LayerwiseInference::run(Segment& segment, const Input& from, ConstMatrixView tap, MatrixView out) {
  const Input in = gathered(segment, from);
  // Other ranks fetch rows from the host. A rank that computes alone reads its rows where they were made.
  const bool answers = layer(segment.layers.first).spec().gathers && !in.is_features && comm_.size() > 1;
  FeatureStore store(
      host_, graph_.owners, comm_, answers ? Rows(host_rows_.of(ctx_, in.rows.dense)) : in.rows,
      {.route = options_.route, .device = in.device, .sparse = in.is_features && graph_.sparse});
  std::vector<VertexId> seeds;
  for (std::size_t slab = 0; slab + 1 < slabs_.size(); ++slab) {
    const Index begin = slabs_[slab], count = slabs_[slab + 1] - begin;
    seeds.resize(std::size_t(count));
    std::iota(seeds.begin(), seeds.end(), VertexId(graph_.owners.first_row(comm_.rank()) + begin));
    segment.sampler->sample(0, seeds, batch_);
    RangeInput input = input_rows(segment, in, store, begin);
    segment.pass->begin(batch_, 0, false);
    if (appends(segment)) {
      append(segment, input, out.slice_rows(begin, count));
      continue;
    }
    segment.memory->shape(segment.pass->rows());
    if (tap.cols > 0) input.tap = tap.slice_rows(begin, count);
    runner_.forward(*segment.pass, parameters_.present(), *segment.memory, input);
    axpby(ctx_, 1, segment.memory->output(segment.layers.end - 1), 0, out.slice_rows(begin, count));
  }
}

void LayerwiseInference::count(ScheduleBytes& bytes) const {
  for (const Matrix* each : {&buffers_[0], &buffers_[1], &tap_, &logits_})
    bytes.activations += each->held_bytes();
  for (const Segment& each : segments_) each.memory->count(bytes);
  bytes.halo += sourced_.bytes() + inputs_.bytes() + batch_.bytes() +
                (options_.input == nullptr ? 0 : options_.input->bytes());
  if (options_.first != nullptr) options_.first->count(bytes);
}

}  // namespace atl
