// GraphSAINT (Zeng et al. 2020): a step's subgraph is drawn with probabilities that favour some vertices, and what it computes is corrected
// for them. An arc u → v stands for 1 / α = P(v) / P(u and v): then a vertex's sum is unbiased, given that the vertex is there. A vertex's
// loss counts 1 / λ = 1 / P(v): then the loss is unbiased. P is the probability that a step has the vertex, or both.
#pragma once

#include "sampler/subgraph.h"

namespace atl {

/// P(v) of own training vertices: what a step's losses are divided and weighed by.
class SaintLosses {
 public:
  /// presence(row): P of an own row. Collective.
  SaintLosses(const SetInput& in, FunctionRef<double(VertexId row)> presence);

  /// Training vertices that a step is expected to have, over all ranks.
  double expected() const { return expected_; }
  /// What a training vertex's loss counts beside others, where losses are divided by expected().
  Real weight(double presence) const { return Real(expected_ / (double(training_) * presence)); }

 private:
  Index training_ = 0;
  double expected_ = 0;
};

/// Sums of own rows' values, part by part, so that they are the same bits whoever owns a part. Collective.
double sum_over_parts(const SetInput& in, FunctionRef<double(VertexId row)> value);

/// P(at least one of `draws` independent draws), each with probability p.
double presence_of(double p, Index draws);
/// P(both are there), where p, q are each one's and both of them are in one draw with probability `together`.
double presence_of_both(double p, double q, double together, Index draws);

}  // namespace atl
