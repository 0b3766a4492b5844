#include "sampler/pairs/pair_ends.h"

#include <algorithm>

namespace atl {
namespace {

void sort_once(std::vector<VertexId>& rows) {
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

}  // namespace

void PairEnds::of_step(std::int64_t step, std::span<const VertexId> edges, Index all_edges, StepPairs& pairs,
                       std::vector<VertexId>& rows) {
  draws_.draw(step, edges, all_edges, pairs);
  wanted_.assign(pairs.sources.span().begin(), pairs.sources.span().end());
  wanted_.insert(wanted_.end(), pairs.destinations.span().begin(), pairs.destinations.span().end());
  sort_once(wanted_);
  if (comm_.size() == 1) return rows.assign(wanted_.begin(), wanted_.end());
  requests_.ask(Traffic::kPair, wanted_);
  rows.assign(requests_.asked().begin(), requests_.asked().end());
  sort_once(rows);
}

}  // namespace atl
