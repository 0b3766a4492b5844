#include "sampler/pairs/pair_graph.h"

#include <algorithm>
#include <utility>

namespace atl {

PairGraph::PairGraph(const Dataset& dataset, std::span<const VertexId> row_of, std::span<const VertexId> ids,
                     std::span<const Index> part_offsets, Owners owners, Rank rank)
    : row_of_(row_of),
      ids_(ids),
      owners_(std::move(owners)),
      rank_(rank),
      edges_by_part_(part_offsets.size() - 1),
      all_edges_(dataset.meta().pairs.supervised) {
  const View<const VertexId> pairs = dataset.pairs(PairSet::kTrain);
  read_edges(pairs, all_edges_, part_offsets);
  read_partners(pairs, dataset.meta().symmetric);
}

void PairGraph::read_edges(View<const VertexId> pairs, Index supervised,
                           std::span<const Index> part_offsets) {
  std::vector<std::pair<std::size_t, RowPair>> own;  // with the part
  for (Index i = 0; i < supervised; ++i) {
    const RowPair pair{row_of(pairs.at(i, 0)), row_of(pairs.at(i, 1))};
    const auto part =
        std::size_t(std::ranges::upper_bound(part_offsets, Index(pair.source)) - part_offsets.begin() - 1);
    ++edges_by_part_[part];
    if (owners_.owns(rank_, pair.source)) own.emplace_back(part, pair);
  }
  std::ranges::stable_sort(own, {}, &std::pair<std::size_t, RowPair>::first);
  numbers_.first_part = owners_.first_part(rank_);
  for (const auto& [part, pair] : own) {
    numbers_.by_part.resize(part - std::size_t(numbers_.first_part) + 1);
    numbers_.by_part.back().push_back(VertexId(edges_.size()));
    edges_.push_back(pair);
  }
  numbers_.by_part.resize(std::size_t(owners_.part_count(rank_)));  // the last ones may have no edges
}

/// Counted, then filled in.
void PairGraph::read_partners(View<const VertexId> pairs, bool undirected) {
  const Index first = owners_.first_row(rank_), rows = owners_.rows(rank_);
  partner_begin_.assign(std::size_t(rows) + 1, 0);
  const auto each = [&](auto&& visit) {
    for (Index i = 0; i < pairs.rows; ++i)
      for (const int from : {0, 1}) {
        const VertexId row = row_of(pairs.at(i, from));
        if ((from == 0 || undirected) && owners_.owns(rank_, row))
          visit(Index(row) - first, pairs.at(i, 1 - from));
      }
  };
  each([&](Index row, VertexId) { ++partner_begin_[std::size_t(row) + 1]; });
  for (std::size_t r = 0; r < std::size_t(rows); ++r) partner_begin_[r + 1] += partner_begin_[r];
  partners_.resize(std::size_t(partner_begin_.back()));
  std::vector<Index> next(partner_begin_.begin(), partner_begin_.end() - 1);
  each([&](Index row, VertexId vertex) { partners_[std::size_t(next[std::size_t(row)]++)] = vertex; });
  for (std::size_t r = 0; r < std::size_t(rows); ++r)
    std::sort(partners_.begin() + partner_begin_[r], partners_.begin() + partner_begin_[r + 1]);
}

bool PairGraph::is_known(VertexId own_row, VertexId vertex) const {
  const auto row = std::size_t(own_row - owners_.first_row(rank_));
  return std::binary_search(partners_.begin() + partner_begin_[row],
                            partners_.begin() + partner_begin_[row + 1], vertex);
}

}  // namespace atl
