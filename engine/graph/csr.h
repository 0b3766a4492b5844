// Compressed sparse rows: who each row reads from. Row = destination, column = source, everywhere in Atoll.
#pragma once

#include <vector>

#include "tensor/csr_view.h"

namespace atl {

/// The owning form of CsrView.
struct Csr {
  Index rows = 0, cols = 0;
  std::vector<Index> offsets{0};
  std::vector<VertexId> columns;
  std::vector<float> weights;  // empty: unweighted

  CsrView view() const {
    return {rows, cols, offsets.data(), columns.data(), weights.empty() ? nullptr : weights.data()};
  }
  Index arcs() const { return Index(columns.size()); }
};

/// A transpose that remembers where each of its arcs stands in the original.
struct Transpose {
  Csr csr;                    // (cols × rows of the original); within a row, ascending original row
  std::vector<Index> arc_of;  // (arcs) position in the original's columns; empty unless asked for
};

/// Counting sort, O(rows + cols + arcs). `with_arcs` fills arc_of (8 bytes an arc: attention alone needs it).
Transpose transpose(const CsrView& a, bool with_arcs);

}  // namespace atl
