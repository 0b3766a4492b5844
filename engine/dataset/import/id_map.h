// Maps ids with gaps to places 0 … n − 1 in ascending order. Memory grows only with the number of distinct
// ids.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "dataset/format/mapped_file.h"
#include "dataset/import/arc_lines.h"
#include "dataset/writer.h"

namespace atl {

/// Two places that hold the same id; nothing if all ids differ.
std::optional<std::pair<Index, Index>> first_twice(std::span<const std::int64_t> ids);

/// Collects distinct ids from a long stream of repeated ones.
class IdCollector {
 public:
  void add(std::int64_t id) {
    fresh_.push_back(id);
    if (fresh_.size() >= limit_) compact();
  }
  /// Returns the ids ascending, each once, and leaves the collector empty.
  std::vector<std::int64_t> take();

 private:
  void compact();

  std::vector<std::int64_t> known_, fresh_;  // known_: ascending, each once
  std::size_t limit_ = 1 << 20;
};

class IdMap {
 public:
  /// `ids` are ascending, each once, ≥ 0.
  explicit IdMap(std::vector<std::int64_t> ids);

  Index size() const { return Index(ids_.size()); }
  std::span<const std::int64_t> ids() const { return ids_; }
  bool is_identity() const { return ids_.empty() || ids_.back() == Index(ids_.size()) - 1; }
  /// Place of an id that is in the map.
  VertexId place_of(std::int64_t id) const;

 private:
  std::vector<std::int64_t> ids_;
  std::vector<VertexId> table_;  // place by id, if ids are dense enough; else empty
};

// Arcs between ids that may have gaps and 64 bits. They wait in a temporary file until all ids are known. The
// ids then become 0 … n − 1 in ascending order, and the original ones are kept.

class MappedArcs {
 public:
  /// The temporary file lies in `scratch`.
  explicit MappedArcs(const std::filesystem::path& scratch) : arrived_(scratch) {}

  void add(const IdArc& arc);
  /// Adds a vertex, which may have no arcs.
  void add_vertex(std::int64_t id) { ids_.add(id); }
  Index arcs() const { return arcs_; }

  /// Gives the writer vertices, arcs and original ids. Call once; `source` begins errors.
  void hand_over(const std::string& source, DatasetWriter& writer);

 private:
  ScratchFile arrived_;
  IdCollector ids_;
  Index arcs_ = 0;
};

}  // namespace atl
