// The lines of an edge list.
#pragma once

#include <filesystem>
#include <functional>

#include "base/types.h"

namespace atl {

struct SnapArc {
  std::int64_t src = 0, dst = 0;
  double weight = 1;
};

struct SnapSummary {
  bool says_undirected = false;  // "# Undirected graph", as SNAP's own files begin
  bool ignored_columns = false;  // there was a third column, which nobody asked for
};

/// Calls `take` for each arc. A line that is no arc is an Error that names file and line.
SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const SnapArc&)>& take);

}  // namespace atl
