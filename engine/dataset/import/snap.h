// SNAP's edge lists: a source and a destination id a line, separated by spaces, tabs or a comma, an optional
// weight third; '#' and '%' start comments. Ids may have gaps and be any 64-bit number ≥ 0: they are mapped
// to 0 … n − 1 in ascending order, and the original ones kept. The text is read once.
#pragma once

#include <filesystem>
#include <functional>

#include "dataset/import/arc_fields.h"

namespace atl {

// The lines of an edge list.

struct SnapSummary {
  bool says_undirected = false;     // "# Undirected graph", as SNAP's own files begin
  int columns = 0;                  // in each line
  bool whole_numbers = true;        // in all columns behind the ids
  IdArc first;                      // of the first line
  std::int64_t largest_other = -1;  // id in other lines
};

/// Calls `take` for each arc. A line that is no arc, or that has another number of columns than the first, is
/// an Error that names file and line: an adjacency list has such.
SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const IdArc&)>& take);

}  // namespace atl
