#include "train/links/link_data.h"

#include <algorithm>
#include <vector>

namespace atl {
namespace {

Owners owners_of(const Job& job, const PreparedGraph& prepared, const PartRanks& parts, bool batches) {
  if (batches) return {prepared.part_offsets(), job.placement.ranks};
  return {prepared.part_offsets(), parts};
}

}  // namespace

LinkData::LinkData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const PartRanks& parts, bool batches)
    : negatives_(job.links.negatives),
      graph_(dataset, prepared.rows(), prepared.ids(), prepared.part_offsets(),
             owners_of(job, prepared, parts, batches), rank) {
  read(dataset, PairSet::kValidation, PairSet::kValidationNegative, validation_);
  read(dataset, PairSet::kTest, PairSet::kTestNegative, test_);
}

/// Counted, then filled in: own pairs are kept.
void LinkData::read(const Dataset& dataset, PairSet edges, PairSet negatives, Measured& into) const {
  std::vector<Index> by_rank(std::size_t(graph_.owners().ranks()));
  for (const PairSet set : {edges, negatives}) {
    const View<const VertexId> pairs = dataset.pairs(set);
    for (Index i = 0; i < pairs.rows; ++i)
      ++by_rank[std::size_t(graph_.owners().owner_of(graph_.row_of(pairs.at(i, 0))))];
    if (set == edges) into.pairs.edges = by_rank[std::size_t(graph_.rank())];
    (set == edges ? into.edges : into.negatives) = double(pairs.rows);
  }
  into.pairs.reserve(by_rank[std::size_t(graph_.rank())]);
  for (const PairSet set : {edges, negatives}) {
    const View<const VertexId> pairs = dataset.pairs(set);
    for (Index i = 0; i < pairs.rows; ++i)
      if (const VertexId source = graph_.row_of(pairs.at(i, 0)); graph_.owners().owns(graph_.rank(), source))
        into.pairs.add(source, graph_.row_of(pairs.at(i, 1)));
  }
  into.most = *std::ranges::max_element(by_rank);
}

}  // namespace atl
