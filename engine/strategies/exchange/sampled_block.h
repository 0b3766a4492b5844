// The block of a sample of a block's sources: the arcs to halo rows that a rank keeps for an epoch.
//
// Arcs of the other sources are dropped rather than multiplied by zero, which saves time in proportion. If a
// source stands for w, its arcs' weights are multiplied by w, and the transpose applies that to its gradient
// too. For sums and means this gives the unbiased estimate. Attention and softmax aggregation multiply
// exp(score) by w in numerator and denominator, so that an arc counts as w equal arcs. Weights still add up
// to 1, and scores are exact, since they are made of unscaled rows.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "graph/csr.h"

namespace atl {

class SampledBlock {
 public:
  /// Makes room for samples of `sources` of the sources of `whole`, whose arrays must outlive it. attention:
  /// a sample has transpose_arc, which attention needs. Address space is reserved for all arcs, but only the
  /// arcs of a sample use memory.
  SampledBlock(const Block& whole, Index sources, bool attention);
  SampledBlock(const SampledBlock&) = delete;

  /// chosen: `sources` of whole's sources, ascending; weights: how many sources each stands for. O(dst + arcs
  /// of the sample).
  void cut(std::span<const VertexId> chosen, std::span<const float> weights);
  const Block& block() const { return block_; }
  /// Bytes of a sample that has the same share of the arcs as of the sources.
  Index bytes() const;

 private:
  void take_rows(std::span<const VertexId> chosen, std::span<const float> weights);
  void transpose_back();
  void claim(Csr& csr, Index rows, Index cols) const;
  void view();

  const Block& whole_;
  bool attention_;
  Csr arcs_, transpose_;       // (dst × sources) and back
  std::vector<Index> arc_of_;  // (arcs) as Block::transpose_arc
  std::vector<VertexId> ids_;  // (sources)
  std::vector<Real> scale_;    // (sources), used where the whole block has one
  Block block_;
};

inline SampledBlock::SampledBlock(const Block& whole, Index sources, bool attention)
    : whole_(whole), attention_(attention), ids_(std::size_t(sources)), scale_(std::size_t(sources)) {
  claim(arcs_, whole.dst(), sources);
  claim(transpose_, sources, whole.dst());
  if (attention_) arc_of_.reserve(std::size_t(whole.arcs.arcs()));
  view();
}

inline void SampledBlock::claim(Csr& csr, Index rows, Index cols) const {
  csr.rows = rows, csr.cols = cols;
  csr.offsets.assign(std::size_t(rows) + 1, 0);
  csr.columns.reserve(std::size_t(whole_.arcs.arcs()));
  csr.weights.reserve(std::size_t(whole_.arcs.arcs()));
}

inline void SampledBlock::cut(std::span<const VertexId> chosen, std::span<const float> weights) {
  ATOLL_CHECK(chosen.size() == ids_.size() && weights.size() == ids_.size(), "{} rows and {} weights of {}",
              chosen.size(), weights.size(), ids_.size());
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    const auto source = std::size_t(chosen[s]);
    ids_[s] = whole_.src_ids[source];
    if (whole_.src_scale != nullptr) scale_[s] = whole_.src_scale[source];
  }
  take_rows(chosen, weights);
  transpose_back();
  view();
}

/// Takes the chosen rows of the transpose, and counts each destination's arcs among them in arcs_.offsets,
/// shifted by one.
inline void SampledBlock::take_rows(std::span<const VertexId> chosen, std::span<const float> weights) {
  const CsrView& from = whole_.transpose;
  transpose_.columns.clear();
  transpose_.weights.clear();
  std::ranges::fill(arcs_.offsets, 0);
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    for (Index e = from.offsets[chosen[s]]; e < from.offsets[chosen[s] + 1]; ++e) {
      transpose_.columns.push_back(from.columns[e]);
      transpose_.weights.push_back(from.weights == nullptr ? weights[s] : weights[s] * from.weights[e]);
      ++arcs_.offsets[std::size_t(from.columns[e]) + 1];
    }
    transpose_.offsets[s + 1] = transpose_.arcs();
  }
}

/// Transposes by a counting sort that keeps the order of a destination's sources. Offsets serve as cursors
/// and are restored.
inline void SampledBlock::transpose_back() {
  std::vector<Index>& offsets = arcs_.offsets;
  for (std::size_t d = 1; d < offsets.size(); ++d) offsets[d] += offsets[d - 1];
  const auto arcs = std::size_t(transpose_.arcs());
  arcs_.columns.resize(arcs);
  arcs_.weights.resize(arcs);
  if (attention_) arc_of_.resize(arcs);
  for (Index s = 0; s < transpose_.rows; ++s) {
    for (auto e = std::size_t(transpose_.offsets[std::size_t(s)]);
         e < std::size_t(transpose_.offsets[std::size_t(s) + 1]); ++e) {
      const Index place = offsets[std::size_t(transpose_.columns[e])]++;
      arcs_.columns[std::size_t(place)] = VertexId(s);
      arcs_.weights[std::size_t(place)] = transpose_.weights[e];
      if (attention_) arc_of_[e] = place;
    }
  }
  for (std::size_t d = offsets.size() - 1; d > 0; --d) offsets[d] = offsets[d - 1];
  offsets[0] = 0;
}

inline void SampledBlock::view() {
  block_.arcs = {arcs_.rows, arcs_.cols, arcs_.offsets.data(), arcs_.columns.data(), arcs_.weights.data()};
  block_.transpose = {transpose_.rows, transpose_.cols, transpose_.offsets.data(), transpose_.columns.data(),
                      transpose_.weights.data()};
  block_.transpose_arc = attention_ ? arc_of_.data() : nullptr;
  block_.dst_scale = whole_.dst_scale;
  block_.src_scale = whole_.src_scale == nullptr ? nullptr : scale_.data();
  block_.dst_ids = whole_.dst_ids;
  block_.src_ids = ids_;
}

inline Index SampledBlock::bytes() const {
  const double share = whole_.src() == 0 ? 0 : double(ids_.size()) / double(whole_.src());
  const auto arcs = Index(share * double(whole_.arcs.arcs()));
  const Index an_arc = 2 * Index(sizeof(VertexId) + sizeof(float)) + (attention_ ? Index(sizeof(Index)) : 0);
  return arcs * an_arc + Index(sizeof(Index) * (arcs_.offsets.size() + transpose_.offsets.size())) +
         Index(sizeof(VertexId) * ids_.size() + sizeof(Real) * scale_.size());
}

}  // namespace atl
