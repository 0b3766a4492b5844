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

HopDraw Sampler::hop_of(std::int64_t step, int layer) const {
  if (sets_ != nullptr) return {.kept = &sets_->of_layer(layer)};
  return {.draws = Draws(options_.seed, Purpose::kNeighbour, std::uint64_t(step), std::uint64_t(layer)),
          .fanout = options_.fanout[std::size_t(layer)],
          .replace = options_.replace,
          .remote = remote_};
}

void Sampler::draw(std::int64_t step, int layer, Batch& batch) {
  const HopDraw hop = hop_of(step, layer);
  Batch::Layer& into = batch.layers_[std::size_t(layer)];
  structure_.draw(hop, batch.rows_.span(), into.arcs);
  number_sources(batch, into);
  weigh(hop, into);
  into.transposed = layer > 0 || options_.transpose_input;
  into.places = into.transposed && options_.attention;
  if (!into.transposed) return;
  const DrawnArcs& arcs = into.arcs;
  into.transpose.make({arcs.offsets.size() - 1, batch.counts_.back(), arcs.offsets.data(),
                       arcs.columns.data(), into.weighted ? arcs.weights.data() : nullptr},
                      into.places, cursors_);
}

/// Prepared rows become rows of the batch, new ones at its end.
void Sampler::number_sources(Batch& batch, Batch::Layer& layer) {
  constexpr Index kAhead = 16;
  const auto columns = layer.arcs.columns.span();
  const auto arcs = Index(columns.size());
  for (Index e = 0; e < std::min(kAhead, arcs); ++e) table_.prefetch(columns[std::size_t(e)]);
  auto next = VertexId(batch.rows_.size());
  for (Index e = 0; e < arcs; ++e) {
    if (e + kAhead < arcs) table_.prefetch(columns[std::size_t(e + kAhead)]);
    const VertexId row = columns[std::size_t(e)], number = table_.find_or_add(row, next);
    columns[std::size_t(e)] = number;
    if (number != next) continue;
    batch.rows_.push(row);
    ++next;
  }
  batch.counts_.push_back(next);
}

/// A row's loops stand for themselves, its neighbours for as many as there were for each drawn.
void Sampler::weigh(const HopDraw& hop, Batch::Layer& layer) const {
  DrawnArcs& arcs = layer.arcs;
  if (hop.kept != nullptr) {
    layer.weighted = structure_.weighted() || hop.weighs();
    return;
  }
  const auto heads = arcs.heads.span();
  const bool own = structure_.weighted(),
             factors = !options_.attention && std::ranges::any_of(heads, [&](const RowHead&head) {
               return head.stands_for(hop) != 1;
             });
  layer.weighted = own || factors;
  if (!factors) return;
  if (!own) arcs.weights.take(arcs.columns.size());
  float* const weights = arcs.weights.data();
  for (Index i = 0; i < Index(heads.size()); ++i) {
    const float factor = heads[std::size_t(i)].stands_for(hop);
    const Index begin = arcs.offsets[i], neighbours = begin + heads[std::size_t(i)].loops,
                end = arcs.offsets[i + 1];
    for (Index e = begin; !own && e < neighbours; ++e) weights[e] = 1;
    for (Index e = neighbours; e < end; ++e) weights[e] = own ? weights[e] * factor : factor;
  }
}

/// Destinations' degrees came with their arcs; sources' are asked for where they are needed.
void Sampler::set_scales(Batch& batch) {
  const Normalisation by = options_.normalisation;
  const auto rows = batch.rows_.span();
  const bool both = by == Normalisation::kSymmetric;
  const auto degrees = batch.degrees_.take(both ? Index(rows.size()) : 0);
  const HopDraw hop = batch.layers() > 0 ? hop_of(batch.step, 0) : HopDraw{};
  structure_.describe(hop, rows, batch.ids_.take(Index(rows.size())),
                      both ? std::optional(degrees) : std::nullopt);
  const bool scaled = by != Normalisation::kSum && batch.layers() > 0;
  const auto dst = batch.dst_scale_.take(scaled ? batch.output_rows(0) : 0);
  for (Index i = 0; i < Index(dst.size()); ++i)
    dst[std::size_t(i)] = dst_factor(by, batch.layers_.front().arcs.heads[i].degree);
  const auto src = batch.src_scale_.take(both ? Index(rows.size()) : 0);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = src_factor(by, degrees[i]);
}

}  // namespace atl
