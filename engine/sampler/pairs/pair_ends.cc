#include "sampler/pairs/pair_ends.h"

#include <algorithm>

namespace atl {
void PairEnds::of_step(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs,
                       std::vector<VertexId>& rows) {
  draws_.draw(step, edges, all_edges, pairs);
  collect_ends(
      pairs, [](VertexId) { return true; }, wanted_);
  if (comm_.size() == 1) return rows.assign(wanted_.begin(), wanted_.end());
  requests_.ask(Traffic::kPair, wanted_);
  rows.assign(requests_.asked().begin(), requests_.asked().end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

}  // namespace atl
