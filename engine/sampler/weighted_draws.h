// Draws vertices of the whole graph with given probabilities, independently and with replacement: draw k of a step is a function of its
// key and k, and the vertex's owner finds it. A rank holds the running sums of its own vertices' weights, and one sum a part.
#pragma once

#include <span>
#include <vector>

#include "base/random.h"
#include "sampler/gathered.h"
#include "sampler/owners.h"

namespace atl {

/// One per sampling thread. References outlive it.
class WeightedDraws {
 public:
  struct Drawn {
    VertexId row;
    std::int32_t times;
    double probability;  // of one draw
  };
  /// weights (owned), of this rank's rows, 0 or more. Collective.
  WeightedDraws(const Owners& owners, Communicator& comm, const std::vector<double>& weights);

  /// Each vertex that was drawn, once, ascending; empty where all weights are 0. The same on all ranks; valid until the next call.
  /// Collective.
  std::span<const Drawn> draw(const Draws& draws, Index count);
  /// What draw() sends where these ranks draw together, and these rows come out.
  static void count_sent(std::span<const VertexId> rows, const Owners& ranks,
                         FunctionRef<void(Rank from, Rank to, Index bytes)> sent) {
    Gathered<Drawn>::count_sent(rows, ranks, sent);
  }
  /// Of an own row.
  double probability(VertexId row) const;
  Index growths() const { return own_.growths() + gathered_.growths(); }

 private:
  const Owners& owners_;
  const Index first_;         // own row
  std::vector<double> sums_;  // (owned) of a part's weights up to each of its rows, this one's among them
  std::vector<double> part_sums_;  // (parts + 1)
  Recycled<Drawn> own_;
  Gathered<Drawn> gathered_;
};

}  // namespace atl
