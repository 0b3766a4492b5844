// Random walks that all ranks take together: every rank knows where each walk is, and the owner of that vertex takes its next step.
#pragma once

#include "graph/row_table.h"
#include "sampler/gathered.h"
#include "sampler/step_sets.h"

namespace atl {

/// One per sampling thread.
class Walks {
 public:
  /// `count` walks of `length` steps, from any vertex with equal probability. A step goes to a neighbour other than the vertex itself,
  /// each with equal probability; who has none stays.
  Walks(const SetInput& in, Index count, int length);

  /// Vertices that the walks came by, each once, ascending: a function of `draws`. The same on all ranks; valid until the next call.
  /// Collective.
  std::span<const VertexId> draw(const Draws& draws);
  Index growths() const;
  /// What the last draw() sends where these ranks walk together.
  void count_sent(const Owners& ranks, StepSets::Sent sent) const;

 private:
  std::span<VertexId> at(int step) {
    return at_.span().subspan(std::size_t(step * count_), std::size_t(count_));
  }
  VertexId next_of(Index number, std::uint64_t bits);
  void take_step(const Draws& draws, int step);

  const SetInput in_;
  const Index count_;
  const int length_;
  Recycled<VertexId> at_;  // (length + 1, count)
  RowTable table_;
  Recycled<VertexId> here_, next_;  // own rows that some walk is at; where own walks go, in their order
  DrawnArcs arcs_;
  Recycled<VertexId> others_;  // of a row
  Gathered<VertexId> told_;
  std::vector<Index> read_;  // (ranks) of what each told
  Recycled<VertexId> visited_;
};

}  // namespace atl
