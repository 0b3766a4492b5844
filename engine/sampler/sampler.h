// Neighbour sampling (Hamilton, Ying & Leskovec 2017, "GraphSAGE", algorithm 2): makes a step's batch from
// its seeds inwards.
//
// A sampled block's aggregation estimates the whole graph's without bias. Scales are those of the whole
// graph, and each arc's weight says what it stands for. If k of d neighbours were drawn, a neighbour's arc of
// own weight w counts w·d/k, and a self-loop, which is always there, w.
//   sum        E[Σ w·(d/k)·x(j)] = Σ w·x(j)                              dst 1,          src 1
//   mean       the same over the destination's full degree               dst 1/deg(i),   src 1
//   symmetric  the same with the full degrees of both ends               dst deg(i)^-½,  src deg(j)^-½
// Degrees are the numbers of arcs, self-loops included, or sums of their weights. If every vertex has all its
// neighbours there are no factors, and no weights are stored unless the graph has weights: the block is the
// whole graph's.
//
// Other samplers draw sets of vertices for the whole step (step_sets.h). A row then reads its arcs from the
// layer's set, and the set says what each stands for.
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
  /// Whether layer 0 has a transpose. It is needed if input features get a gradient, or rows computed from
  /// them before they are gathered.
  bool transpose_input = true;
  std::uint64_t seed = 1;
};

/// One per sampling thread.
class Sampler {
 public:
  /// The structure and sets outlive it. `sets`: sets to read instead of `fanout` neighbours per vertex; null:
  /// neighbours are drawn.
  Sampler(Structure& structure, SamplingOptions options, StepSets* sets = nullptr);

  /// Makes the batch of these seeds: prepared rows that the rank owns, each once. Collective: every rank
  /// calls it for each step, even without seeds.
  void sample(std::int64_t step, std::span<const VertexId> seeds, Batch& batch);
  /// How owners draw neighbours from now on (HopDraw::by_owner), the same kind on all ranks. `draws` outlives
  /// its use.
  void draw_by(const NeighbourDraws* draws) { by_owner_ = draws; }
  /// From now on, neighbours on other ranks that inner layers draw are leaves, if `known` has them. It
  /// outlives its use.
  void read_history(const HistoryDirectory* known) { known_ = known; }
  /// How many arcs it looked at to find those of the batch that it made last: where a step draws sets, all
  /// arcs of the rows that read some of them; else none but the drawn ones, which aren't counted.
  /// `offsets`: (rows + 1) where arcs of prepared rows begin.
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
