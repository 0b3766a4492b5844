// SNAP's edge lists: each line has a source id and a destination id, separated by spaces, tabs or a comma,
// and optionally a weight; '#' and '%' start comments. Ids may have gaps and be any 64-bit number ≥ 0. They
// are mapped to 0 … n − 1 in ascending order, and the original ones kept. The text is read once.
#pragma once

#include <filesystem>
#include <functional>

#include "dataset/import/arc_fields.h"

namespace atl {

// The lines of an edge list.

struct SnapSummary {
  bool says_undirected = false;     // "# Undirected graph", as in SNAP's own files
  int columns = 0;                  // in each line
  bool whole_numbers = true;        // in all columns after the ids
  IdArc first;                      // of the first line
  std::int64_t largest_other = -1;  // among other lines' ids
};

/// Calls `take` for each arc. Throws Error naming file and line for a line that is no arc, or that has
/// another number of columns than the first, as in an adjacency list.
SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const IdArc&)>& take);

}  // namespace atl
