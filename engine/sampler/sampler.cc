#include "sampler/sampler.h"

#include <algorithm>

#include "base/error.h"

namespace atl {

Sampler::Sampler(Structure& structure, SamplingOptions options, StepSets* sets)
    : structure_(structure), options_(std::move(options)), sets_(sets) {
  for (const int fanout : options_.fanout)
    ATOLL_CHECK(fanout >= 1 || fanout == kAllNeighbours, "fanout {}", fanout);
}

void Sampler::sample(std::int64_t step, std::span<const VertexId> seeds, Batch& batch) {
  const int layers = int(options_.fanout.size());
  if (sets_ != nullptr) sets_->draw(step, seeds);
  batch.step = step;
  batch.layers_.resize(std::size_t(layers));
  batch.counts_.clear();
  std::ranges::copy(seeds, batch.rows_.take(Index(seeds.size())).begin());
  table_.clear();
  for (std::size_t i = 0; i < seeds.size(); ++i)
    ATOLL_CHECK(table_.find_or_add(seeds[i], VertexId(i)) == VertexId(i), "row {} is a seed twice", seeds[i]);
  batch.counts_.push_back(Index(seeds.size()));
  for (int layer = layers - 1; layer >= 0; --layer) draw(step, layer, batch);
  set_scales(batch);
}

/// RowDraws looks at all arcs of a row twice: to count the kept ones, and to copy them. It looks at them once
/// more if the degrees of sources count only kept arcs.
Index Sampler::arcs_looked_at(const Batch& batch, std::span<const Index> offsets) const {
  if (sets_ == nullptr || batch.layers() == 0) return 0;
  const auto arcs_of_first = [&](Index rows) {
    Index sum = 0;
    for (const VertexId row : batch.rows().first(std::size_t(rows)))
      sum += offsets[std::size_t(row) + 1] - offsets[std::size_t(row)];
    return sum;
  };
  Index sum = 0;
  for (int layer = 0; layer < batch.layers(); ++layer) sum += 2 * arcs_of_first(batch.output_rows(layer));
  if (options_.normalisation == Normalisation::kSymmetric && sets_->of_layer(0).induces_degrees())
    sum += arcs_of_first(batch.input_rows(0));
  return sum;
}

HopDraw Sampler::hop_of(std::int64_t step, int layer) const {
  if (sets_ != nullptr) return {.kept = &sets_->of_layer(layer)};
  return {.draws = Draws(options_.seed, Purpose::kNeighbour, std::uint64_t(step), std::uint64_t(layer)),
          .fanout = options_.fanout[std::size_t(layer)],
          .replace = options_.replace,
          .by_owner = by_owner_};
}

void Sampler::draw(std::int64_t step, int layer, Batch& batch) {
  const HopDraw hop = hop_of(step, layer);
  Batch::Layer& into = batch.layers_[std::size_t(layer)];
  structure_.draw(hop, batch.rows_.span(), into.arcs);
  const bool is_cut = known_ != nullptr && layer > 0;
  into.leaves.clear();
  if (is_cut) cut_.cut(*known_, layer, hop, batch.rows_.span(), into.arcs, into.leaves);
  number_sources(batch, into);
  weigh(hop, is_cut, into);
  into.transposed = layer > 0 || options_.transpose_input;
  into.places = into.transposed && options_.attention;
  if (!into.transposed) return;
  const DrawnArcs& arcs = into.arcs;
  into.transpose.make(
      {arcs.offsets.size() - 1, batch.counts_.back() + into.leaves.size(), arcs.offsets.data(),
       arcs.columns.data(), into.weighted ? arcs.weights.data() : nullptr},
      into.places, cursors_);
}

/// Replaces prepared rows by rows of the batch. New rows go to the batch's end, and leaves are numbered after
/// them.
void Sampler::number_sources(Batch& batch, Batch::Layer& layer) {
  constexpr Index kAhead = 16;
  const auto columns = layer.arcs.columns.span();
  const auto arcs = Index(columns.size());
  for (Index e = 0; e < std::min(kAhead, arcs); ++e) table_.prefetch(columns[std::size_t(e)]);
  auto next = VertexId(batch.rows_.size());
  for (Index e = 0; e < arcs; ++e) {
    if (e + kAhead < arcs) table_.prefetch(columns[std::size_t(e + kAhead)]);
    const VertexId row = columns[std::size_t(e)];
    if (row < 0) continue;
    const VertexId number = table_.find_or_add(row, next);
    columns[std::size_t(e)] = number;
    if (number != next) continue;
    batch.rows_.push(row);
    ++next;
  }
  batch.counts_.push_back(next);
  if (layer.leaves.size() == 0) return;
  for (VertexId& column : columns)
    if (column < 0) column = next - 1 - column;
}

/// A row's self-loops count once; its drawn neighbours count as many times as each stands for.
void Sampler::weigh(const HopDraw& hop, bool is_cut, Batch::Layer& layer) const {
  DrawnArcs& arcs = layer.arcs;
  if (hop.kept != nullptr) {
    layer.weighted = structure_.weighted() || hop.weighs();
    return;
  }
  const Index rows = arcs.neighbours.size();
  const bool own = structure_.weighted();
  bool factors = false;
  for (Index i = 0; i < rows && !options_.attention && !factors; ++i)
    factors = stands_for(hop, is_cut, arcs, i) != 1;
  layer.weighted = own || factors;
  if (!factors) return;
  if (!own) std::ranges::fill(arcs.weights.take(arcs.columns.size()), 1.F);
  for (Index i = 0; i < rows; ++i) {
    const float factor = stands_for(hop, is_cut, arcs, i);
    for (Index e = arcs.offsets[i]; e < arcs.offsets[i + 1]; ++e)
      if (arcs.columns[e] != VertexId(i)) arcs.weights[e] *= factor;
  }
}

/// Destinations' degrees came with their arcs; sources' degrees are asked for only if they are needed.
void Sampler::set_scales(Batch& batch) {
  const Normalisation by = options_.normalisation;
  const Index rows = batch.rows_.size();
  const auto described = described_.take(rows);
  std::ranges::copy(batch.rows_.span(), described.begin());
  for (const Batch::Layer& layer : batch.layers_)
    for (const VertexId row : layer.leaves.rows.span()) described_.push(row);
  const bool both = by == Normalisation::kSymmetric;
  const Index all = described_.size();
  const auto degrees = batch.degrees_.take(both ? all : 0);
  const HopDraw hop = batch.layers() > 0 ? hop_of(batch.step, 0) : HopDraw{};
  structure_.describe(hop, described_.span(), batch.ids_.take(all),
                      both ? std::optional(degrees) : std::nullopt);
  const bool scaled = by != Normalisation::kSum && batch.layers() > 0;
  const auto dst = batch.dst_scale_.take(scaled ? batch.output_rows(0) : 0);
  for (Index i = 0; i < Index(dst.size()); ++i)
    dst[std::size_t(i)] = dst_factor(by, batch.layers_.front().arcs.neighbours[i].degree);
  const auto src = batch.src_scale_.take(both ? all : 0);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = src_factor(by, degrees[i]);
  if (all > rows) place_leaves(batch);
  batch.ids_.extend(rows);
  if (both) batch.src_scale_.extend(rows);
}

/// The arrays of ids and scales hold those of the batch's rows, then those of the leaves, layer by layer.
/// Copies the leaves' part to each layer, behind the ids and scales of the layer's own rows.
void Sampler::place_leaves(Batch& batch) {
  Index first = batch.rows_.size();
  const auto place = [&](const auto& from, Index own, Index leaves, auto& to) {
    if (from.size() == 0 || leaves == 0) return;
    const auto out = to.take(own + leaves);
    std::copy_n(from.data(), own, out.begin());
    std::copy_n(from.data() + first, leaves, out.begin() + own);
  };
  for (int layer = 0; layer < batch.layers(); ++layer) {
    Leaves& leaves = batch.layers_[std::size_t(layer)].leaves;
    place(batch.ids_, batch.input_rows(layer), leaves.size(), leaves.ids);
    place(batch.src_scale_, batch.input_rows(layer), leaves.size(), leaves.scales);
    first += leaves.size();
  }
}

}  // namespace atl
