// What one rank computes in one step: the vertices it trains on, the neighbours that were drawn for them layer by layer, and the
// rows of input features that this needs. Made by a Sampler, used by a schedule, recycled.
//
// Rows of all layers are one list. It begins with the seeds; then come the neighbours that the last layer reads and that aren't
// there yet, then those of the layer before, and so on. The first counts[h] rows are the destinations of hop h and the first
// counts[h + 1] its sources. So a destination is its own source (Block::dst_are_sources), and what a layer writes is what the
// next one reads. Leaves are of their hop alone: its sources behind these (sampler/history/). New rows come in the order in which they are first drawn: that is free, keeps neighbours near each other, and
// depends on the seeds' order alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "graph/block.h"
#include "sampler/history/history_leaves.h"
#include "sampler/structure.h"
#include "sampler/transposed_arcs.h"

namespace atl {

class Batch {
 public:
  std::int64_t step = -1;
  double total = 0;  // vertices of the step over all ranks, by which its loss is divided (StepSeeds)
  Recycled<Real> loss_weights;  // (seeds) what each one's loss counts; empty: all 1

  int layers() const { return int(layers_.size()); }
  /// Of the gathering layers, the one nearest to the input being 0. Views; valid until the batch is sampled into again.
  Block block(int layer) const;
  /// (rows of all layers) prepared rows and the data set's ids. Of `layer`'s input: the first input_rows(layer).
  std::span<const VertexId> rows() const { return rows_.span(); }
  std::span<const VertexId> ids() const { return ids_.span(); }
  /// (rows) Block::src_scale of every layer; empty: all 1.
  std::span<const Real> src_scales() const { return src_scale_.span(); }
  std::span<const VertexId> seeds() const { return rows_.first(counts_.front()); }
  /// Without leaves.
  Index input_rows(int layer) const { return counts_[counts_.size() - 1 - std::size_t(layer)]; }
  Index output_rows(int layer) const { return input_rows(layer + 1); }

  /// Sources of a layer behind its input rows, whose rows come from a cache of historical embeddings.
  const Leaves& leaves(int layer) const { return layers_[std::size_t(layer)].leaves; }
  Index sources(int layer) const { return input_rows(layer) + leaves(layer).size(); }

  Index arcs() const;  // of all layers
  /// How often its memory had to grow, and what it is now.
  Index growths() const;
  Index bytes() const;

 private:
  friend class Sampler;
  struct Layer {
    DrawnArcs arcs;  // columns: rows of this batch
    bool weighted = false;
    TransposedArcs transpose;
    Leaves leaves;
    bool transposed = false, places = false;  // whether it is there, and knows its places
  };
  Recycled<VertexId> rows_, ids_;
  std::vector<Index> counts_{0};  // (layers + 1)
  Recycled<double> degrees_;
  Recycled<Real> dst_scale_, src_scale_;  // of the rows in order; empty: all 1
  std::vector<Layer> layers_;
};

}  // namespace atl
