#include "sampler/batch.h"

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

template <class T>
const T* data_or_null(const Reusable<T>& values) {
  return values.size() == 0 ? nullptr : values.data();
}

}  // namespace

Block Batch::block(int layer) const {
  ATOLL_CHECK(layer >= 0 && layer < layers(), "layer {} of {}", layer, layers());
  const Layer& from = layers_[std::size_t(layer)];
  const Index sources = this->sources(layer), destinations = output_rows(layer);
  const bool has_leaves = from.leaves.size() > 0;
  Block block;
  block.arcs = {destinations, sources, from.arcs.offsets.data(), from.arcs.columns.data(),
                from.weighted ? from.arcs.weights.data() : nullptr};
  if (from.transposed) {
    block.transpose = from.transpose.view(destinations);
    block.transpose_arc = from.places ? from.transpose.arc.data() : nullptr;
  }
  block.dst_scale = data_or_null(dst_scale_);
  block.src_scale = data_or_null(has_leaves ? from.leaves.scales : src_scale_);
  block.dst_ids = ids_.first(destinations);
  block.src_ids = has_leaves ? from.leaves.ids.span() : ids_.first(sources);
  block.dst_are_sources = true;
  return block;
}

Index Batch::arcs() const {
  Index sum = 0;
  for (const Layer& layer : layers_) sum += layer.arcs.columns.size();
  return sum;
}

Index Batch::reallocations() const {
  Index sum = rows_.reallocations() + ids_.reallocations() + degrees_.reallocations() +
              dst_scale_.reallocations() + src_scale_.reallocations() + loss_weights.reallocations();
  for (const Layer& layer : layers_)
    sum += layer.arcs.reallocations() + layer.transpose.reallocations() + layer.leaves.reallocations();
  return sum;
}

Index Batch::bytes() const {
  Index sum = rows_.bytes() + ids_.bytes() + degrees_.bytes() + dst_scale_.bytes() + src_scale_.bytes() +
              loss_weights.bytes();
  for (const Layer& layer : layers_)
    sum += layer.arcs.neighbours.bytes() + layer.arcs.offsets.bytes() + layer.arcs.columns.bytes() +
           layer.arcs.weights.bytes() + layer.transpose.bytes() + layer.leaves.bytes();
  return sum;
}

/// Cursors have 32 bits, so that more of them fit in cache.
void TransposedArcs::make(const CsrView& from, bool places, Reusable<std::uint32_t>& cursors) {
  const Index arcs = from.arcs(), sources = from.cols;
  ATOLL_CHECK(arcs < Index(1) << 32, "{} arcs", arcs);
  const auto begins = offsets.take(sources + 1);
  const auto next = cursors.take(sources);
  std::ranges::fill(next, 0U);
  for (Index e = 0; e < arcs; ++e) ++next[std::size_t(from.columns[e])];
  begins[0] = 0;
  for (std::size_t s = 0; s < std::size_t(sources); ++s) {
    begins[s + 1] = begins[s] + next[s];
    next[s] = std::uint32_t(begins[s]);
  }
  const bool weighted = from.weights != nullptr;
  columns.take(arcs);
  weights.take(weighted ? arcs : 0);
  arc.take(places ? arcs : 0);
  for (Index d = 0; d < from.rows; ++d)
    for (Index e = from.offsets[d]; e < from.offsets[d + 1]; ++e) {
      const Index at = next[std::size_t(from.columns[e])]++;
      columns[at] = VertexId(d);
      if (weighted) weights[at] = from.weights[e];
      if (places) arc[at] = e;
    }
}

void TransposedArcs::take_first(const TransposedArcs& all, Index destinations) {
  const Index sources = all.offsets.size() - 1, arcs = all.columns.size();
  const bool weighted = all.weights.size() > 0;
  const auto begins = offsets.take(sources + 1);
  // Makes room for all arcs, most of which are left out.
  columns.take(arcs), weights.take(weighted ? arcs : 0);
  arc.take(0);
  begins[0] = 0;
  Index at = 0;
  for (Index s = 0; s < sources; ++s) {
    for (Index e = all.offsets[s]; e < all.offsets[s + 1] && all.columns[e] < destinations; ++e, ++at) {
      columns[at] = all.columns[e];
      if (weighted) weights[at] = all.weights[e];
    }
    begins[std::size_t(s) + 1] = at;
  }
  columns.extend(at), weights.extend(weighted ? at : 0);
}

CsrView TransposedArcs::view(Index destinations) const {
  return {offsets.size() - 1, destinations, offsets.data(), columns.data(),
          weights.size() > 0 ? weights.data() : nullptr};
}

void RowShares::count(const Batch& batch, SharedRows& into) {
  const auto sets = std::size_t(batch.layers()) + 1;
  into.weights.resize(sets);
  into.owned.resize(sets);
  for (std::size_t h = 0; h < sets; ++h) {
    const Index rows = h == 0 ? Index(batch.seeds().size()) : batch.input_rows(batch.layers() - int(h));
    count_set(batch.rows().first(std::size_t(rows)), into.weights[h], into.owned[h]);
  }
}

void RowShares::count_set(std::span<const VertexId> rows, Reusable<Real>& weights, double& owned) {
  requests_.ask(Traffic::kIds, rows);
  const auto asked = requests_.asked();
  table_.clear();
  counts_.take(0);
  for (const VertexId row : asked) {
    const VertexId number = table_.find_or_add(row, VertexId(counts_.size()));
    if (number == VertexId(counts_.size())) counts_.push(0);
    ++counts_[number];
  }
  owned = double(counts_.size());
  answers_.take(Index(asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) answers_[Index(i)] = counts_[table_.find(asked[i])];
  const auto answers = requests_.by_row(answers_, arrived_);
  requests_.answer(Traffic::kIds, {&answers, 1});
  weights.take(Index(rows.size()));
  const auto places = requests_.places();
  for (std::size_t i = 0; i < places.size(); ++i) weights[places[i]] = Real(1) / Real(arrived_[Index(i)]);
}

}  // namespace atl
