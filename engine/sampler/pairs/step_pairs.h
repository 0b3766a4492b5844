// The pairs of vertices that a rank's share of a step's loss is of: training edges and, drawn for them, pairs that are none.
#pragma once

#include "base/recycled.h"

namespace atl {

struct StepPairs {
  Recycled<VertexId> sources,
      destinations;  // (pairs) prepared rows of any owner: first the edges, then the negative pairs
  Index edges = 0;   // how many of them are edges
  double total = 0;  // pairs of the step over all ranks, by which the loss is divided

  Index size() const { return sources.size(); }
  void clear() { sources.take(0), destinations.take(0), edges = 0; }
  void add(VertexId source, VertexId destination) { sources.push(source), destinations.push(destination); }
  Index growths() const { return sources.growths() + destinations.growths(); }
};

}  // namespace atl
