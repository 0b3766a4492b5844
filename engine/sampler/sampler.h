// Neighbour sampling (Hamilton, Ying & Leskovec 2017, "GraphSAGE", algorithm 2): makes a step's batch from
// its seeds inwards.
//
// A sampled block's aggregation estimates the whole graph's without bias. Scales are those of the whole
// graph, and each arc's weight says what the arc stands for. If k of d neighbours were drawn, the arc of a
// drawn neighbour counts w·d/k, where w is its weight in the graph. A self-loop is always there and counts w.
//   sum        E[Σ w·(d/k)·x(j)] = Σ w·x(j)                              dst 1,          src 1
//   mean       the same over the destination's full degree               dst 1/deg(i),   src 1
//   symmetric  the same with the full degrees of both ends               dst deg(i)^-½,  src deg(j)^-½
// Degrees are the numbers of arcs, self-loops included, or sums of their weights. If every vertex has all its
// neighbours there are no factors, and no weights are stored unless the graph has weights: the block is the
// whole graph's.
//
// Other samplers draw sets of vertices for the whole step (step_sets.h). A row then reads its arcs from the
// layer's set, and the set says for how many arcs each of them stands.
//
// With DistGNN-MB's historical embeddings, neighbours on other ranks are leaves in inner layers
// (sampler/history/history_directory.h).
//
// Attention and softmax aggregation weigh the drawn neighbours by their scores alone, because a softmax has
// no unbiased estimate of this kind.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csr.h"
#include "graph/row_table.h"
#include "sampler/batch.h"
#include "sampler/step_sets.h"
#include "sampler/structure.h"

namespace atl {

struct SamplingOptions {
  // by gathering layer, the one nearest to the input first; −1: all neighbours (check_fanout())
  std::vector<int> fanout;
  bool replace = false;
  Normalisation normalisation = Normalisation::kSum;
  bool attention = false;  // softmax over neighbours: arcs have no factors, transposed ones have places
  /// Whether layer 0 has a transpose. It is needed if the rows that layer 0 gathers get a gradient: the input
  /// features, or rows computed from them.
  bool transpose_input = true;
  std::uint64_t seed = 1;
};

/// One per sampling thread.
class Sampler {
 public:
  /// The structure and sets outlive it. `sets` draws the sets that layers read; null: `fanout` neighbours are
  /// drawn for each vertex.
  Sampler(Structure& structure, SamplingOptions options, StepSets* sets = nullptr);

  /// Makes the batch of these seeds: prepared rows that the rank owns, each once. Collective: every rank
  /// calls it for each step, even without seeds.
  void sample(std::int64_t step, std::span<const VertexId> seeds, Batch& batch);
  /// Sets how owners draw neighbours from now on (HopDraw::by_owner). All ranks set the same kind. `draws`
  /// outlives its use.
  void draw_by(const NeighbourDraws* draws) { by_owner_ = draws; }
  /// From now on, the neighbours that inner layers draw on other ranks are leaves, if `known` has them.
  /// `known` outlives its use.
  void read_history(const HistoryDirectory* known) { known_ = known; }
  /// The number of arcs that the last sample() looked at to find the batch's arcs. If a step draws sets, it
  /// looks at all arcs of the rows that layers compute. Otherwise it looks at drawn arcs alone, and this is
  /// 0. `offsets`: (rows + 1) where arcs of prepared rows begin.
  Index arcs_looked_at(const Batch& batch, std::span<const Index> offsets) const;
  /// How often its own and the structure's memory had to grow; batches count theirs.
  Index reallocations() const {
    return table_.reallocations() + cursors_.reallocations() + structure_.reallocations() +
           cut_.reallocations() + described_.reallocations() +
           (sets_ == nullptr ? 0 : sets_->reallocations());
  }

 private:
  HopDraw hop_of(std::int64_t step, int layer) const;
  void draw(std::int64_t step, int layer, Batch& batch);
  void number_sources(Batch& batch, Batch::Layer& layer);
  void weigh(const HopDraw& hop, bool is_cut, Batch::Layer& layer) const;
  float stands_for(const HopDraw& hop, bool is_cut, const DrawnArcs& arcs, Index row) const {
    return is_cut ? cut_.factors()[std::size_t(row)] : arcs.neighbours[row].stands_for(hop);
  }
  void set_scales(Batch& batch);
  static void place_leaves(Batch& batch);

  Structure& structure_;
  const SamplingOptions options_;
  StepSets* const sets_;
  const NeighbourDraws* by_owner_ = nullptr;
  const HistoryDirectory* known_ = nullptr;  // null: there are no leaves
  HistoryCut cut_;
  Reusable<VertexId> described_;  // a batch's rows, then its leaves
  RowTable table_;
  Reusable<std::uint32_t> cursors_;  // for transposing
};

}  // namespace atl
