// MatrixMarket coordinate files: entry (row, column[, value]), ids from 1. Row = source,
// column = destination, as in a line of an edge list. A symmetric file stores one triangle.
#pragma once

#include <filesystem>
#include <functional>

#include "base/types.h"

namespace atl {

// The lines of a MatrixMarket file (Boisvert, Pozo, Remington 1996).

struct MatrixMarketHeader {
  bool has_values = false;  // real or integer; else pattern
  bool symmetric = false;
  Index size = 0;  // rows = columns
  Index entries = 0;
};

struct MatrixEntry {
  VertexId row = 0, column = 0;  // from 0
  double value = 1;
};

/// Calls `take` for each entry. Throws Error naming file and line unless the file is a square coordinate
/// matrix with as many entries as announced and, if `weights`, a value ≥ 0 in each.
MatrixMarketHeader read_matrixmarket(
    const std::filesystem::path& path, bool weights,
    const std::function<void(const MatrixMarketHeader&, const MatrixEntry&)>& take);

}  // namespace atl
