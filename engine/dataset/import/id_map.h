// Maps ids with gaps to places 0 … n − 1 in ascending order. Memory grows only with the number of distinct
// ids.
#pragma once

#include <cstdint>
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

// Maps labels that are text, or don't count from 0 without gaps, to classes 0 … k − 1.

struct NumberedLabels {
  std::vector<std::int32_t> classes;  // (labels) −1: unlabelled
  std::vector<std::string> names;     // (k) the original label of each class
};

/// Numbers labels in ascending order; −1 stays unlabelled.
NumberedLabels number_labels(std::span<const std::int32_t> labels);
/// Numbers labels in the order of their bytes; empty text is unlabelled.
NumberedLabels number_labels(std::span<const std::string> labels);

/// The message about a label that is a number but not a whole one: "Atoll predicts classes, not numbers
/// (regression isn't built) …". `labels` are all labels; if they have only few distinct values, these may be
/// names of classes.
std::string not_classes(std::span<const double> labels);

/// The class of each row of 0 and 1 (any, classes), −1 for a row of zeros; empty if any row has several ones.
std::vector<std::int32_t> classes_of_one_hot(std::span<const std::uint8_t> rows, std::size_t classes);

}  // namespace atl
