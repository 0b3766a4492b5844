#include "sampler/owners.h"

#include <algorithm>

#include "base/error.h"

namespace atl {

Owners::Owners(std::span<const Index> part_offsets, int ranks)
    : part_begin_(part_offsets.begin(), part_offsets.end()) {
  ATOLL_CHECK(!part_offsets.empty() && ranks >= 1, "{} offsets, {} ranks", part_offsets.size(), ranks);
  const auto parts = Index(part_offsets.size()) - 1;
  if (parts < ranks)
    fail(
        "the graph is prepared in {} parts for {} ranks; prepare it in at least {} parts, or use fewer ranks",
        parts, ranks, ranks);
  for (Rank rank = 0; rank <= ranks; ++rank) {
    first_part_.push_back(int(parts * rank / ranks));
    first_row_.push_back(part_offsets[std::size_t(first_part_.back())]);
  }
}

Owners::Owners(std::span<const Index> part_offsets, const PartRanks& ranks)
    : Owners(part_offsets, int(part_offsets.size()) - 1) {
  order_ = ranks;
}

Rank Owners::owner_of(VertexId row) const {
  const auto place = std::upper_bound(first_row_.begin(), first_row_.end(), Index(row)) - first_row_.begin();
  return order_.rank_of(int(place) - 1);
}

int Owners::part_of(VertexId row) const {
  return int(std::upper_bound(part_begin_.begin(), part_begin_.end(), Index(row)) - part_begin_.begin()) - 1;
}

}  // namespace atl
