// Which vertices train, validate and test, while an importer collects it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

/// (vertices, columns) values of Split: a column is one of several draws of the same kind of split.
struct SplitTable {
  Index vertices = 0, columns = 1;
  std::vector<std::uint8_t> values;

  SplitTable(Index vertices_, Index columns_)
      : vertices(vertices_), columns(columns_), values(std::size_t(vertices_ * columns_)) {}

  /// Throws Error, which begins with `source`, if the vertex is out of range or in another part of this
  /// column.
  void mark(Index vertex, Index column, Split part, const std::string& source);
  /// (vertices, columns) masks: non-zero marks.
  void mark_all(std::span<const std::uint8_t> mask, Split part, const std::string& source);

  View<const std::uint8_t> view() const { return {values.data(), vertices, columns}; }
};

std::string_view to_string(Split part);

}  // namespace atl
