// The block of some of a block's sources: what an epoch's sample leaves of a rank's arcs to halo rows.
//
// Arcs of the others are dropped, and time saved in proportion, rather than multiplied by zero. A source that
// stands for w has its arcs' weights multiplied by w, which the transpose carries to its gradient. In sums
// and means that is the unbiased estimate. Attention and softmax aggregation weigh exp(score) by it, in
// numerator and denominator, so that an arc counts as w arcs of its kind: weights still add up to 1, and the
// scores themselves, made of unscaled rows, stay true.
#pragma once

#include <span>
#include <vector>

#include "graph/csr.h"

namespace atl {

class SampledBlock {
 public:
  /// Makes room for samples of `sources` sources of `whole`, whose arrays outlive it. attention: a sample's
  /// transposed arcs know their place. Address space is reserved for all arcs, but only a sample's arcs use
  /// memory.
  SampledBlock(const Block& whole, Index sources, bool attention);
  SampledBlock(const SampledBlock&) = delete;

  /// chosen: `sources` of whole's sources, ascending; weights: what each of them stands for. O(dst + arcs of
  /// the sample).
  void cut(std::span<const VertexId> chosen, std::span<const float> weights);
  const Block& block() const { return block_; }
  /// Bytes of a sample whose share of the arcs is its share of the sources.
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
  std::vector<Real> scale_;    // (sources) in use where the whole block has one
  Block block_;
};

}  // namespace atl
