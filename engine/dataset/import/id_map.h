// Ids with gaps to places 0 … n − 1 in ascending order, in memory that grows with the number of ids alone.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"

namespace atl {

/// Two places at which the ids, which are to be different, hold the same one; nothing where they are different.
std::optional<std::pair<Index, Index>> first_twice(std::span<const std::int64_t> ids);

/// Collects distinct ids from a long stream of repeated ones.
class IdCollector {
 public:
  void add(std::int64_t id) {
    fresh_.push_back(id);
    if (fresh_.size() >= limit_) compact();
  }
  /// Ascending, each once. Leaves the collector empty.
  std::vector<std::int64_t> take();

 private:
  void compact();

  std::vector<std::int64_t> known_, fresh_;  // known_: ascending, each once
  std::size_t limit_ = 1 << 20;
};

class IdMap {
 public:
  /// Ascending, each once, ≥ 0.
  explicit IdMap(std::vector<std::int64_t> ids);

  Index size() const { return Index(ids_.size()); }
  std::span<const std::int64_t> ids() const { return ids_; }
  bool is_identity() const { return ids_.empty() || ids_.back() == Index(ids_.size()) - 1; }
  /// Place of an id that is in the map.
  VertexId place_of(std::int64_t id) const;

 private:
  std::vector<std::int64_t> ids_;
  std::vector<VertexId> table_;  // place by id, where ids are dense enough; else empty
};

}  // namespace atl
