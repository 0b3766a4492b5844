#include "graph/transform.h"

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

/// Appends arcs row by row.
class Builder {
 public:
  Builder(Index rows, Index cols, Index expected_arcs, bool weighted) : weighted_(weighted) {
    csr_.rows = rows, csr_.cols = cols;
    csr_.offsets.reserve(std::size_t(rows) + 1);
    csr_.columns.reserve(std::size_t(expected_arcs));
    if (weighted) csr_.weights.reserve(std::size_t(expected_arcs));
  }
  void add(VertexId column, float weight) {
    csr_.columns.push_back(column);
    if (weighted_) csr_.weights.push_back(weight);
  }
  /// Adds an arc unless the row's last arc already has this column.
  void add_once(VertexId column, float weight) {
    if (Index(csr_.columns.size()) == csr_.offsets.back() || csr_.columns.back() != column)
      add(column, weight);
  }
  void end_row() { csr_.offsets.push_back(Index(csr_.columns.size())); }
  Csr take() { return std::move(csr_); }

 private:
  Csr csr_;
  bool weighted_;
};

float weight(const CsrView& a, Index e) {
  return a.weights == nullptr ? 1 : a.weights[e];
}

/// The arcs of `a` for which keep(row, column) holds.
template <class Keep>
Csr filtered(const CsrView& a, const Keep& keep) {
  Builder out(a.rows, a.cols, a.arcs(), a.weights != nullptr);
  for (Index r = 0; r < a.rows; ++r) {
    for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
      if (keep(VertexId(r), a.columns[e])) out.add(a.columns[e], weight(a, e));
    out.end_row();
  }
  return out.take();
}

}  // namespace

Csr symmetrise(const CsrView& a) {
  ATOLL_CHECK(a.rows == a.cols, "{} rows, {} columns", a.rows, a.cols);
  const Transpose reverse = transpose(a, false);
  const CsrView b = reverse.csr.view();
  Builder out(a.rows, a.cols, 2 * a.arcs(), a.weights != nullptr);
  for (Index r = 0; r < a.rows; ++r) {
    Index i = a.offsets[r], j = b.offsets[r];
    while (i < a.offsets[r + 1] || j < b.offsets[r + 1]) {
      const bool own = j == b.offsets[r + 1] || (i < a.offsets[r + 1] && a.columns[i] <= b.columns[j]);
      out.add_once(own ? a.columns[i] : b.columns[j], own ? weight(a, i) : weight(b, j));
      ++(own ? i : j);
    }
    out.end_row();
  }
  return out.take();
}

Csr with_self_loops(const CsrView& a) {
  ATOLL_CHECK(a.rows == a.cols, "{} rows, {} columns", a.rows, a.cols);
  Builder out(a.rows, a.cols, a.arcs() + a.rows, a.weights != nullptr);
  for (Index r = 0; r < a.rows; ++r) {
    bool looped = false;
    for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e) {
      if (!looped && a.columns[e] > r) out.add(VertexId(r), 1);
      if (!looped || a.columns[e] != r) out.add(a.columns[e], weight(a, e));
      looped |= a.columns[e] >= r;
    }
    if (!looped) out.add(VertexId(r), 1);
    out.end_row();
  }
  return out.take();
}

Csr without_self_loops(const CsrView& a) {
  return filtered(a, [](VertexId row, VertexId column) { return row != column; });
}

Csr induced_subgraph(const CsrView& a, std::span<const std::uint8_t> marked) {
  ATOLL_CHECK(a.rows == a.cols && Index(marked.size()) == a.rows, "{} marks for {} rows", marked.size(),
              a.rows);
  return filtered(a, [&](VertexId row, VertexId column) {
    return marked[std::size_t(row)] != 0 && marked[std::size_t(column)] != 0;
  });
}

Csr neighbour_pattern(const CsrView& a, bool is_symmetric) {
  CsrView unweighted = a;
  unweighted.weights = nullptr;
  Csr pattern;
  if (!is_symmetric) {
    pattern = symmetrise(unweighted);
    unweighted = pattern.view();
  }
  Builder out(a.rows, a.cols, unweighted.arcs(), false);
  for (Index r = 0; r < a.rows; ++r) {
    for (Index e = unweighted.offsets[r]; e < unweighted.offsets[r + 1]; ++e)
      if (unweighted.columns[e] != r) out.add_once(unweighted.columns[e], 1);
    out.end_row();
  }
  return out.take();
}

}  // namespace atl
