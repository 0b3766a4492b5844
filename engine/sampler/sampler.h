// Neighbour sampling (Hamilton, Ying & Leskovec 2017, "GraphSAGE", algorithm 2): a step's batch, from its
// seeds inwards.
//
// What a sampled block's aggregation estimates is the whole graph's, without bias. Scales are those of the
// whole graph, and each arc carries what it stands for: with d neighbours of which k were drawn, w·d/k for a
// neighbour's arc of own weight w, and w for a self-loop, which is always there.
//   sum        E[Σ w·(d/k)·x(j)] = Σ w·x(j)                              dst 1,          src 1
//   mean       the same over the destination's full degree               dst 1/deg(i),   src 1
//   symmetric  the same with the full degrees of both ends               dst deg(i)^-½,  src deg(j)^-½
// degrees being the numbers of arcs, self-loops included, or sums of their weights. Where every vertex has
// all its neighbours there is no factor at all, and no weight is stored unless the graph has weights: the
// block is the whole graph's.
//
// Other samplers draw sets of vertices for the whole step (step_sets.h): a row's arcs are then those from the
// layer's set, and carry what the set says that they stand for.
//
// Under DistGNN-MB's historical embeddings neighbours of other ranks are leaves in inner layers
// (sampler/history/history_directory.h).
//
// Attention and softmax aggregation weigh what was drawn by its scores alone: a softmax has no unbiased
// estimate of this kind.
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
  bool attention = false;  // a softmax over neighbours: no factors, and transposed arcs know their places
  /// Layer 0's transpose, which is needed where input features, or rows made of them before they are
  /// gathered, get a gradient.
  bool transpose_input = true;
  std::uint64_t seed = 1;
};

/// One per sampling thread.
class Sampler {
 public:
  /// Both outlive it. sets: what is read instead of `fanout` neighbours a vertex; null: nothing else.
  Sampler(Structure& structure, SamplingOptions options, StepSets* sets = nullptr);

  /// The batch of these seeds, prepared rows that the rank owns, each once. Collective: every rank calls it
  /// for each step, with seeds or without.
  void sample(std::int64_t step, std::span<const VertexId> seeds, Batch& batch);
  /// How owners draw neighbours from here on (HopDraw::remote), the same kind on all ranks; it outlives that.
  void prefer(const RemoteDraws* remote) { remote_ = remote; }
  /// From here on, neighbours of other ranks that inner layers draw are leaves, as far as they are known; it
  /// outlives that.
  void read_history(const HistoryDirectory* known) { known_ = known; }
  /// How often memory of its own and the structure's had to grow; batches count theirs.
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
    return is_cut ? cut_.factors()[std::size_t(row)] : arcs.heads[row].stands_for(hop);
  }
  void set_scales(Batch& batch);
  static void place_leaves(Batch& batch);

  Structure& structure_;
  const SamplingOptions options_;
  StepSets* const sets_;
  const RemoteDraws* remote_ = nullptr;
  const HistoryDirectory* known_ = nullptr;  // null: nothing is a leaf
  HistoryCut cut_;
  Reusable<VertexId> described_;  // rows of a batch, and its leaves
  RowTable table_;
  Reusable<std::uint32_t> cursors_;  // of transposing
};

}  // namespace atl
