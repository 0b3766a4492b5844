#include "sampler/pairs/pair_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace atl {

void check_own_edges(Index own, Index all, Rank rank) {
  constexpr Index kMost = std::numeric_limits<VertexId>::max();
  if (own <= kMost) return;
  fail(
      "placement.ranks: {} of the {} supervised training edges begin at vertices of rank {}, and a rank numbers at most "
      "{} (use more ranks: with {}, each has as many if all have equally many)",
      own, all, rank, kMost, (all + kMost - 1) / kMost);
}

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

/// Counts first, then fills in, so that nothing is held twice.
void PairGraph::read_edges(View<const VertexId> pairs, Index supervised,
                           std::span<const Index> part_offsets) {
  const auto part_of = [&](VertexId row) {
    return std::size_t(std::ranges::upper_bound(part_offsets, Index(row)) - part_offsets.begin() - 1);
  };
  for (Index i = 0; i < supervised; ++i) ++edges_by_part_[part_of(row_of(pairs.at(i, 0)))];
  std::vector<Index> next(edges_by_part_.size());
  Index own = 0;
  for (int p = 0; p < owners_.part_count(rank_); ++p) {
    const auto part = std::size_t(owners_.first_part(rank_)) + std::size_t(p);
    next[part] = own;
    own += edges_by_part_[part];
  }
  check_own_edges(own, supervised, rank_);
  edges_.resize(std::size_t(own));
  for (Index i = 0; i < supervised; ++i) {
    const VertexId source = row_of(pairs.at(i, 0));
    if (!owners_.owns(rank_, source)) continue;
    edges_[std::size_t(next[part_of(source)]++)] = {source, row_of(pairs.at(i, 1))};
  }
}

TrainingRows PairGraph::numbers() const {
  TrainingRows numbers{owners_.first_part(rank_), {}};
  VertexId next = 0;
  for (int p = 0; p < owners_.part_count(rank_); ++p) {
    const Index count = edges_by_part_[std::size_t(numbers.first_part) + std::size_t(p)];
    auto& of_part = numbers.by_part.emplace_back(std::size_t(count));
    std::iota(of_part.begin(), of_part.end(), next);
    next += VertexId(count);
  }
  return numbers;
}

Index PairGraph::bytes() const {
  return Index(edges_.size() * sizeof(RowPair) + partner_begin_.size() * sizeof(Index) +
               partners_.size() * sizeof(VertexId));
}

/// Counts first, then fills in.
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
