// What is done row by row or element by element, batch norm's statistics, and rounding to halves in place.
#include "tensor/reference/reference.h"

namespace atl::reference {
namespace {

/// out(r, c) = value(r, c).
template <class F>
void put_each(Expected& expected, MatrixView out, F&& value) {
  for (Index r = 0; r < out.rows; ++r)
    for (Index c = 0; c < out.cols; ++c) expected.set(out, r, c, value(r, c));
}

/// Mean and variance of a column, from Σ x and Σ x² over `count` rows.
struct Moments {
  Near mean, variance;
  Moments(std::span<const double> sums, double count, std::size_t c) {
    const double average = sums[c] / count, squares = sums[sums.size() / 2 + c] / count;
    mean = in_doubles(average, std::abs(average));
    variance = in_doubles(std::max(0.0, squares - average * average), squares + average * average);
  }
};

/// stats (2, m): mean and 1/σ.
void put_statistics(Expected& expected, MatrixView stats, Index c, Near mean, Near variance) {
  expected.set(stats, 0, c, mean);
  expected.set(stats, 1, c, through([](double v) { return 1 / std::sqrt(v + kNormEpsilon); }, variance));
}

}  // namespace

void dropout(Expected& expected, const Dropout& d, ConstMatrixView x, MatrixView out) {
  put_each(expected, out, [&](Index r, Index c) {
    return d && r >= d.begin && r < d.end ? at(x, r, c) * factor(d, r, c) : Near(at(x, r, c));
  });
}
void fill(Expected& expected, Real value, MatrixView out) {
  put_each(expected, out, [&](Index, Index) { return Near(double(value)); });
}
void axpby(Expected& expected, Real a, ConstMatrixView x, Real b, MatrixView out) {
  put_each(expected, out, [&](Index r, Index c) {
    const Near term = Near(double(a)) * at(x, r, c);
    return b == 0 ? term : term + Near(double(b)) * at(out, r, c);
  });
}
void scale(Expected& expected, Real factor, MatrixView x) {
  put_each(expected, x, [&](Index r, Index c) { return Near(double(factor)) * at(x, r, c); });
}
/// factors (x.rows).
void scale_rows(Expected& expected, const Real* factors, MatrixView x) {
  put_each(expected, x, [&](Index r, Index c) { return Near(double(factors[r])) * at(x, r, c); });
}

/// index (out.rows).
void gather_rows(Expected& expected, ConstMatrixView x, const VertexId* index, MatrixView out) {
  put_each(expected, out, [&](Index r, Index c) { return Near(at(x, index[r], c)); });
}
/// index (x.rows).
void scatter_add_rows(Expected& expected, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c)
      expected.set(out, index[r], c, Near(at(out, index[r], c)) + at(x, r, c));
}
void scatter_rows(Expected& expected, ConstMatrixView x, const VertexId* index, MatrixView out) {
  for (Index r = 0; r < x.rows; ++r)
    for (Index c = 0; c < x.cols; ++c) expected.set(out, index[r], c, at(x, r, c));
}

void norm_statistics(Expected& expected, std::span<const double> sums, double count, MatrixView stats) {
  for (Index c = 0; c < stats.cols; ++c) {
    const Moments of(sums, count, std::size_t(c));
    put_statistics(expected, stats, c, of.mean, of.variance);
  }
}
/// mean, variance (m).
void known_statistics(Expected& expected, const Real* mean, const Real* variance, MatrixView stats) {
  for (Index c = 0; c < stats.cols; ++c)
    put_statistics(expected, stats, c, double(mean[c]), double(variance[c]));
}
void move_running_statistics(Expected& expected, std::span<const double> sums, double count, double share,
                             Real* mean, Real* variance) {
  for (std::size_t c = 0; c < sums.size() / 2; ++c) {
    const Moments of(sums, count, c);
    const Near unbiased = count > 1 ? of.variance * (count / (count - 1)) : of.variance;
    expected.set(mean + c, Near(double(mean[c])) + Near(share) * (of.mean - double(mean[c])));
    expected.set(variance + c, Near(double(variance[c])) + Near(share) * (unbiased - double(variance[c])));
  }
}

/// What lies behind the halves is anything.
void narrow_in_place(Expected& expected, MatrixView x) {
  const Index count = x.rows * x.cols;
  auto* const halves = reinterpret_cast<Bfloat16*>(x.data);
  put_each(expected, {halves, x.rows, x.cols}, [&](Index r, Index c) { return Near(at(x, r, c)); });
  expected.set_anything(halves + count, count * Index(sizeof(Real) - sizeof(Bfloat16)));
}
void widen_in_place(Expected& expected, MatrixView x) {
  const MatrixView halves(reinterpret_cast<Bfloat16*>(x.data), x.rows, x.cols);
  put_each(expected, x, [&](Index r, Index c) { return Near(at(halves, r, c)); });
}

}  // namespace atl::reference
