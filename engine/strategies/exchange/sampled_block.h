// The block of a sample of a block's sources: the arcs to halo rows that a rank keeps for an epoch.
//
// Arcs of the other sources are dropped rather than multiplied by zero, which saves time in proportion. If a
// source stands for w, its arcs' weights are multiplied by w, and the transpose applies that to its gradient
// too. For sums and means this gives the unbiased estimate. Attention and softmax aggregation multiply
// exp(score) by w in numerator and denominator, so that an arc counts as w equal arcs. Weights still add up
// to 1, and scores are exact, since they are made of unscaled rows.
#pragma once

#include <span>
#include <vector>

#include "graph/csr.h"

namespace atl {

class SampledBlock {
 public:
  /// Makes room for samples of `sources` of the sources of `whole`, whose arrays must outlive it. attention:
  /// a sample's transposed arcs know their place. Address space is reserved for all arcs, but only the arcs
  /// of a sample use memory.
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

}  // namespace atl
