#include "dataset/import/id_map.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace atl {

std::optional<std::pair<Index, Index>> first_twice(std::span<const std::int64_t> ids) {
  if (std::ranges::adjacent_find(ids, std::greater_equal()) == ids.end())
    return {};                                         // ascending: nothing to hold
  std::vector<std::pair<std::int64_t, Index>> places;  // by id
  places.reserve(ids.size());
  for (const std::int64_t id : ids) places.emplace_back(id, Index(places.size()));
  std::ranges::sort(places);
  const auto twice = std::ranges::adjacent_find(places, {}, &std::pair<std::int64_t, Index>::first);
  if (twice == places.end()) return {};
  return std::pair(twice->second, std::next(twice)->second);
}

void IdCollector::compact() {
  std::sort(fresh_.begin(), fresh_.end());
  fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
  std::vector<std::int64_t> merged;
  merged.reserve(known_.size() + fresh_.size());
  std::set_union(known_.begin(), known_.end(), fresh_.begin(), fresh_.end(), std::back_inserter(merged));
  known_ = std::move(merged);
  fresh_.clear();
  limit_ = std::max(limit_, known_.size());  // so that merging stays linear in the stream
}

std::vector<std::int64_t> IdCollector::take() {
  compact();
  return std::exchange(known_, {});
}

IdMap::IdMap(std::vector<std::int64_t> ids) : ids_(std::move(ids)) {
  constexpr std::int64_t kSparsest = 8;  // table entries an id: 32 bytes, as much as a hash table would take
  if (ids_.empty() || ids_.back() >= kSparsest * Index(ids_.size()) + 1024) return;
  table_.assign(std::size_t(ids_.back()) + 1, -1);
  for (std::size_t place = 0; place < ids_.size(); ++place)
    table_[std::size_t(ids_[place])] = VertexId(place);
}

VertexId IdMap::place_of(std::int64_t id) const {
  if (!table_.empty()) return table_[std::size_t(id)];
  return VertexId(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

}  // namespace atl
