#include "graph/csr.h"

#include <cmath>

#include "tensor/copies.h"

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

namespace {

template <class T>
const T* array(DeviceCopies& copies, const T* host, Index count) {
  return host == nullptr ? nullptr : copies.of(std::span(host, std::size_t(count))).data();
}

}  // namespace

Block on_device(DeviceCopies& copies, const Block& host) {
  Block block = host;
  const bool is_symmetric =
      // a transpose that was cut has fewer rows
      host.transpose.offsets == host.arcs.offsets && host.transpose.rows == host.arcs.rows;
  block.arcs = copies.of(host.arcs);
  block.transpose = is_symmetric ? block.arcs : copies.of(host.transpose);
  block.transpose_arc = array(copies, host.transpose_arc, host.transpose.arcs());
  block.dst_scale = array(copies, host.dst_scale, host.dst());
  block.src_scale = array(copies, host.src_scale, host.src());
  block.dst_ids = copies.of(host.dst_ids);
  block.src_ids = copies.of(host.src_ids);
  return block;
}

double degree_of(const CsrView& a, Index row) {
  if (a.weights == nullptr) return double(a.degree(row));
  double sum = 0;
  for (Index e = a.offsets[row]; e < a.offsets[row + 1]; ++e) sum += a.weights[e];
  return sum;
}

Real dst_factor(Normalisation normalisation, double degree) {
  if (normalisation == Normalisation::kMean) return degree > 0 ? Real(1 / degree) : Real(0);
  return src_factor(normalisation, degree);
}

Real src_factor(Normalisation normalisation, double degree) {
  if (normalisation != Normalisation::kSymmetric) return 1;
  return degree > 0 ? Real(1 / std::sqrt(degree)) : Real(0);
}

}  // namespace atl
