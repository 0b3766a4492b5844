// What one rank computes in one step: the vertices it trains on, the neighbours drawn for them layer by
// layer, and the rows of input features that this needs. A Sampler makes it, a schedule uses it, and then it
// is recycled.
//
// Rows of all layers are one list. It begins with the seeds; then come the other rows that the last layer
// reads, then the other rows that the layer before reads, and so on. The first counts[h] rows are the
// destinations of hop h and the first counts[h + 1] its sources. So a destination is its own source
// (Block::dst_are_sources), and what a layer writes is what the next one reads. Leaves are sources of one hop
// only and come after its other sources (sampler/history/). New rows come in the order in which they are
// first drawn. That costs nothing, keeps neighbours near each other, and depends only on the order of the
// seeds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/reusable.h"
#include "graph/csr.h"
#include "graph/row_table.h"
#include "sampler/history/history_directory.h"
#include "sampler/owners.h"
#include "sampler/structure.h"

namespace atl {

// The arcs of one layer of a batch, sorted by source, as the backward pass reads them.

/// Reused with its batch.
struct TransposedArcs {
  Reusable<Index> offsets;     // (sources + 1)
  Reusable<VertexId> columns;  // (arcs)
  Reusable<float> weights;     // (arcs), if the arcs have any
  Reusable<Index> arc;         // (arcs) place of each among the original arcs, if asked for

  /// Counting sort of `arcs` (destinations × sources). `cursors` is scratch.
  void make(const CsrView& arcs, bool places, Reusable<std::uint32_t>& cursors);
  /// Takes those arcs of `all` that go to its first `destinations`. They come first among each source's arcs.
  void take_first(const TransposedArcs& all, Index destinations);
  /// Returns (sources × destinations); valid until make().
  CsrView view(Index destinations) const;
  Index reallocations() const {
    return offsets.reallocations() + columns.reallocations() + weights.reallocations() + arc.reallocations();
  }
  Index bytes() const { return offsets.bytes() + columns.bytes() + weights.bytes() + arc.bytes(); }
};

class Batch {
 public:
  std::int64_t step = -1;
  double total = 0;  // vertices of the step over all ranks, by which its loss is divided (StepSeeds)
  Reusable<Real> loss_weights;  // (seeds) weight of each seed's loss; empty: all 1

  int layers() const { return int(layers_.size()); }
  /// The block of a gathering layer; layer 0 is nearest to the input. A view, valid until the batch is
  /// sampled into again.
  Block block(int layer) const;
  /// The batch's rows, over all layers: as prepared rows, and as ids of the data set. The first
  /// input_rows(layer) of them are the input of `layer`.
  std::span<const VertexId> rows() const { return rows_.span(); }
  std::span<const VertexId> ids() const { return ids_.span(); }
  /// (rows) Block::src_scale of every layer; empty: all 1.
  std::span<const Real> src_scales() const { return src_scale_.span(); }
  std::span<const VertexId> seeds() const { return rows_.first(counts_.front()); }
  /// The number of a layer's input rows, without its leaves.
  Index input_rows(int layer) const { return counts_[counts_.size() - 1 - std::size_t(layer)]; }
  Index output_rows(int layer) const { return input_rows(layer + 1); }
  /// Rows that the first layer writes; all, if no layer gathers.
  Index first_destinations() const { return layers() > 0 ? output_rows(0) : input_rows(0); }

  /// The sources that come after a layer's input rows. They are read from a cache of historical embeddings.
  const Leaves& leaves(int layer) const { return layers_[std::size_t(layer)].leaves; }
  Index sources(int layer) const { return input_rows(layer) + leaves(layer).size(); }

  Index arcs() const;  // of all layers
  /// How often its memory had to grow, and its size now.
  Index reallocations() const;
  Index bytes() const;

 private:
  friend class Sampler;
  struct Layer {
    DrawnArcs arcs;  // columns: rows of this batch
    bool weighted = false;
    TransposedArcs transpose;
    Leaves leaves;
    bool transposed = false, places = false;  // whether the transpose is there, and has places
  };
  Reusable<VertexId> rows_, ids_;
  std::vector<Index> counts_{0};  // (layers + 1)
  Reusable<double> degrees_;
  Reusable<Real> dst_scale_, src_scale_;  // in the order of rows; empty: all 1
  std::vector<Layer> layers_;
};

// Counts how many ranks compute each row of a step, layer by layer. Sums over rows divide each row by this
// number, so that they count a vertex once. Every rank tells the owners which of their rows it computes.

/// The row sets of a batch. Set 0 holds the seeds. Set h holds the rows that the h-th layer, counted from the
/// output, reads; they are the first rows of the batch.
struct SharedRows {
  std::vector<Reusable<Real>> weights;  // by set: (rows) 1 over the number of ranks that compute the row
  std::vector<double> owned;            // by set: number of this rank's own rows that some rank computes
};

/// One per sampling thread. Both arguments outlive it.
class RowShares {
 public:
  RowShares(const Owners& owners, Communicator& comm) : requests_(owners, comm) {}

  /// Collective.
  void count(const Batch& batch, SharedRows& into);
  Index reallocations() const {
    return requests_.reallocations() + table_.reallocations() + counts_.reallocations() +
           answers_.reallocations();
  }

 private:
  void count_set(std::span<const VertexId> rows, Reusable<Real>& weights, double& owned);

  RowRequests requests_;
  RowTable table_;
  Reusable<std::int32_t> counts_;  // by the row's number in table_
  Reusable<std::int32_t> answers_, arrived_;
};

}  // namespace atl
