#include "graph/csr.h"

namespace atl {

Transpose transpose(const CsrView& a, bool with_arcs) {
  Transpose t;
  t.csr.rows = a.cols;
  t.csr.cols = a.rows;
  t.csr.offsets.assign(std::size_t(a.cols) + 1, 0);
  const Index arcs = a.arcs(), first = a.rows == 0 ? 0 : a.offsets[0];
  for (Index e = 0; e < arcs; ++e) ++t.csr.offsets[std::size_t(a.columns[first + e]) + 1];
  for (std::size_t c = 0; c < std::size_t(a.cols); ++c) t.csr.offsets[c + 1] += t.csr.offsets[c];
  t.csr.columns.resize(std::size_t(arcs));
  if (a.weights != nullptr) t.csr.weights.resize(std::size_t(arcs));
  if (with_arcs) t.arc_of.resize(std::size_t(arcs));
  std::vector<Index> next(t.csr.offsets.begin(), t.csr.offsets.end() - 1);
  for (Index r = 0; r < a.rows; ++r) {
    for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e) {
      const auto at = std::size_t(next[std::size_t(a.columns[e])]++);
      t.csr.columns[at] = VertexId(r);
      if (a.weights != nullptr) t.csr.weights[at] = a.weights[e];
      if (with_arcs) t.arc_of[at] = e - first;
    }
  }
  return t;
}

}  // namespace atl
