// Sums over neighbours, and products. A kernel that is given rows in halves may round to halves what it
// multiplies them by.
#include "tensor/reference/reference.h"

namespace atl::reference {
namespace {

/// A weight, which meets rows in halves or not.
Near weight(double value, bool meets_halves) {
  return meets_halves ? maybe_halved(value) : Near(value);
}

/// a(r, column), dropped out, which meets rows in halves or not. a (n, k).
Near dropped(ConstMatrixView a, const Dropout& d, Index r, Index column, bool meets_halves) {
  if (!d) return weight(at(a, r, column), meets_halves);
  const Near value = at(a, r, column) * factor(d, r, column);
  return meets_halves ? halved(value) : value;
}

/// Writes row r of out: term(c, sum) adds up element (r, c).
template <class F>
void put_row(Expected& expected, const Epilogue& e, Index r, bool accumulate, MatrixView out, F&& term) {
  std::vector<Near> values;
  for (Index c = 0; c < out.cols; ++c) {
    Sum sum;
    if (accumulate) sum += at(out, r, c);
    term(c, sum);
    values.push_back(sum.total());
  }
  put_finished(expected, e, r, std::move(values), out);
}

}  // namespace

/// x (csr.cols, f), out (csr.rows, f).
void spmm(Expected& expected, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  for (Index i = 0; i < out.rows; ++i)
    put_row(expected, epilogue, i, accumulate, out, [&](Index c, Sum& sum) {
      for (Index e = a.csr.offsets[i]; e < a.csr.offsets[i + 1]; ++e) {
        const VertexId j = a.csr.columns[e];
        Near term = at(x, j, c);
        if (a.csr.weights != nullptr) term = term * double(a.csr.weights[e]);
        if (a.col_scale != nullptr) term = term * double(a.col_scale[j]);
        if (a.row_scale != nullptr) term = term * double(a.row_scale[i]);
        sum += term;
      }
    });
}

/// a (n, k), w (k, m), out (n, m).
void gemm(Expected& expected, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
          const Epilogue& epilogue) {
  for (Index r = 0; r < out.rows; ++r)
    put_row(expected, epilogue, r, accumulate, out, [&](Index c, Sum& sum) {
      for (Index i = 0; i < a.cols; ++i) sum += at(a, r, i) * weight(at(w, i, c), in_halves(a));
    });
}

/// a (n, k), w (m, k), out (n, m).
void gemm_bt(Expected& expected, ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulate,
             const Dropout& after) {
  for (Index r = 0; r < out.rows; ++r)
    put_row(expected, {.dropout = after}, r, accumulate, out, [&](Index c, Sum& sum) {
      for (Index i = 0; i < a.cols; ++i) sum += at(a, r, i) * weight(at(w, c, i), in_halves(a));
    });
}

/// a (n, k), b (n, m), out (r, m): rows first … first + r − 1 of the k.
void gemm_at(Expected& expected, ConstMatrixView a, const Dropout& dropout, ConstMatrixView b, MatrixView out,
             bool accumulate, Index first) {
  const bool halves = in_halves(a) || in_halves(b);
  for (Index i = 0; i < out.rows; ++i) {
    std::vector<Near> column;
    for (Index r = 0; r < a.rows; ++r) column.push_back(dropped(a, dropout, r, first + i, halves));
    put_row(expected, {}, i, accumulate, out, [&](Index c, Sum& sum) {
      for (Index r = 0; r < a.rows; ++r) sum += column[std::size_t(r)] * weight(at(b, r, c), halves);
    });
  }
}

/// x (n, F) sparse, w (F, m), out (n, m). Each value has a draw of its own, (row, feature).
void sparse_gemm(Expected& expected, const SparseRows& x, const Dropout& dropout, ConstMatrixView w,
                 MatrixView out, const Epilogue& epilogue) {
  for (Index r = 0; r < out.rows; ++r)
    put_row(expected, epilogue, r, false, out, [&](Index c, Sum& sum) {
      for (Index e = x.csr.offsets[r]; e < x.csr.offsets[r + 1]; ++e) {
        const VertexId i = x.csr.columns[e];
        sum += factor(dropout, r, i) * double(x.csr.weights[e]) * at(w, i, c);
      }
    });
}

/// x (n, F) sparse, b (n, m), out (r, m): rows first … first + r − 1 of the F. Goes over x's rows, and not
/// over its transpose.
void sparse_gemm_at(Expected& expected, const SparseRows& x, const Dropout& dropout, ConstMatrixView b,
                    MatrixView out, bool accumulate, Index first) {
  std::vector<Sum> sums(std::size_t(out.rows * out.cols));
  for (Index r = 0; r < x.csr.rows; ++r)
    for (Index e = x.csr.offsets[r]; e < x.csr.offsets[r + 1]; ++e) {
      const Index i = x.csr.columns[e] - first;
      if (i < 0 || i >= out.rows) continue;
      const Near value = factor(dropout, r, first + i) * double(x.csr.weights[e]);
      for (Index c = 0; c < out.cols; ++c) sums[std::size_t(i * out.cols + c)] += value * at(b, r, c);
    }
  for (Index i = 0; i < out.rows; ++i)
    put_row(expected, {}, i, accumulate, out,
            [&](Index c, Sum& sum) { sum += sums[std::size_t(i * out.cols + c)].total(); });
}

/// x (n, F) bits, w (F, m), out (n, m).
void bit_gemm(Expected& expected, const BitRows& x, ConstMatrixView w, MatrixView out, bool accumulate,
              const Epilogue& epilogue) {
  for (Index r = 0; r < out.rows; ++r)
    put_row(expected, epilogue, r, accumulate, out, [&](Index c, Sum& sum) {
      for (Index i = 0; i < x.bits.cols; ++i)
        if (x.bits.at(r, i)) sum += Near(double(x.levels[r])) * at(w, i, c);
    });
}

/// x (n, F) bits, b (n, m), out (r, m): rows first … first + r − 1 of the F.
void bit_gemm_at(Expected& expected, const BitRows& x, ConstMatrixView b, MatrixView out, bool accumulate,
                 Index first) {
  for (Index i = 0; i < out.rows; ++i)
    put_row(expected, {}, i, accumulate, out, [&](Index c, Sum& sum) {
      for (Index r = 0; r < x.bits.rows; ++r)
        if (x.bits.at(r, first + i)) sum += Near(double(x.levels[r])) * at(b, r, c);
    });
}

}  // namespace atl::reference
