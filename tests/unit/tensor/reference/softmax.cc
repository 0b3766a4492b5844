// Both softmaxes over neighbours: attention's, head by head, and the softmax aggregation's, column by column.
// Arcs of weight 0 take no part. The way back goes over destinations and their arcs, as the way there, and
// not over the transpose.
#include "tensor/reference/reference.h"

namespace atl::reference {
namespace {

constexpr double kNothingYet = -std::numeric_limits<double>::infinity();

double weight(const CsrView& csr, Index arc) {
  return csr.weights == nullptr ? 1 : double(csr.weights[arc]);
}

/// What a sum of exponentials relative to `max` is worth relative to `top`: nothing if there was no maximum.
Near share(double max, Near top) {
  return max == kNothingYet ? Near(0) : exp(Near(max) - top);
}

/// Adds arcs to one softmax of destination i: column `s` of the state, columns first … first + width − 1 of
/// out. score(arc): Near; value(arc, c): what is summed in column c of out, its mask included.
template <class Score, class Value>
void add_arcs(Expected& expected, const CsrView& csr, Index i, Index s, Index first, Index width,
              const Softmaxes& softmaxes, Score&& score, Value&& value) {
  const double old = at(softmaxes.state.max, i, s);
  Near top = old;
  bool any = false;
  for (Index e = csr.offsets[i]; e < csr.offsets[i + 1]; ++e)
    if (weight(csr, e) != 0) top = max(top, score(e)), any = true;
  if (!any) return;
  const Near shrink = share(old, top);
  Sum sum;
  std::vector<Sum> out(static_cast<std::size_t>(width));
  sum += shrink * at(softmaxes.state.sum, i, s);
  for (Index c = 0; c < width; ++c) out[std::size_t(c)] += shrink * at(softmaxes.out, i, first + c);
  for (Index e = csr.offsets[i]; e < csr.offsets[i + 1]; ++e) {
    if (weight(csr, e) == 0) continue;
    const Near p = exp(score(e) - top) * weight(csr, e);
    sum += p;
    for (Index c = 0; c < width; ++c) out[std::size_t(c)] += p * value(e, first + c);
  }
  expected.set(softmaxes.state.max, i, s, top);
  expected.set(softmaxes.state.sum, i, s, sum.total());
  for (Index c = 0; c < width; ++c) expected.set(softmaxes.out, i, first + c, out[std::size_t(c)].total());
}

/// α's dropout on the arc from j to i: 0 or 1 / (1 − rate).
Near kept(const Attention& a, Index i, VertexId j, Index head) {
  if (a.dropout_rate == 0) return 1;
  const std::uint64_t key = mix64(a.draws.row_key(std::uint64_t(a.dst_ids[std::size_t(i)])) ^
                                  std::uint64_t(a.src_ids[std::size_t(j)]));
  const bool drops = Draws::bits(key, std::uint32_t(head)) < drop_threshold(a.dropout_rate);
  return drops ? Near(0) : Near(1) / (Near(1) - Near(a.dropout_rate));
}

Index width_of(const Softmaxes& s) {
  return s.state.sum.cols == 0 ? 0 : s.out.cols / s.state.sum.cols;
}

/// out /= sum, of heads of any width; 0 where nothing was summed.
void finish(Expected& expected, const Softmaxes& s) {
  const Index width = width_of(s);
  for (Index i = 0; i < s.out.rows; ++i)
    for (Index c = 0; c < s.out.cols; ++c) {
      const double sum = at(s.state.sum, i, c / width);
      expected.set(s.out, i, c, sum == 0 ? Near(0) : Near(at(s.out, i, c)) * (Near(1) / Near(sum)));
    }
}

}  // namespace

/// state (dst, heads), out (dst, heads·f), as in all that follow.
void softmax_begin(Expected& expected, const Softmaxes& s) {
  for (Index i = 0; i < s.out.rows; ++i) {
    for (Index h = 0; h < s.state.sum.cols; ++h)
      expected.set(s.state.max, i, h, kNothingYet), expected.set(s.state.sum, i, h, 0);
    for (Index c = 0; c < s.out.cols; ++c) expected.set(s.out, i, c, 0);
  }
}

void softmax_merge(Expected& expected, const Softmaxes& s, const Softmaxes& other) {
  const Index width = width_of(s);
  for (Index i = 0; i < s.out.rows; ++i)
    for (Index h = 0; h < s.state.sum.cols; ++h) {
      const double mine = at(s.state.max, i, h), others = at(other.state.max, i, h),
                   top = std::max(mine, others);
      if (top == kNothingYet) continue;
      const Near ours = share(mine, top), theirs = share(others, top);
      expected.set(s.state.max, i, h, top);
      expected.set(s.state.sum, i, h, ours * at(s.state.sum, i, h) + theirs * at(other.state.sum, i, h));
      for (Index c = h * width; c < (h + 1) * width; ++c)
        expected.set(s.out, i, c, ours * at(s.out, i, c) + theirs * at(other.out, i, c));
    }
}

/// z (src, heads·f), dst_score (dst, heads), src_score (src, heads).
void attention_add(Expected& expected, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  const CsrView& csr = a.arcs.csr;
  const Index width = z.cols / a.heads;
  for (Index i = 0; i < csr.rows; ++i)
    for (Index h = 0; h < a.heads; ++h) {
      const auto score = [&](Index e) {
        return leaky(Near(at(dst_score, i, h)) + at(src_score, csr.columns[e], h), double(a.slope));
      };
      const auto value = [&](Index e, Index c) {
        return kept(a, i, csr.columns[e], h) * at(z, csr.columns[e], c);
      };
      add_arcs(expected, csr, i, h, h * width, width, softmaxes, score, value);
    }
}

void attention_finish(Expected& expected, const Softmaxes& softmaxes) {
  finish(expected, softmaxes);
}

/// product (n, heads): x, y (n, heads·f) multiplied head by head.
void attention_dot(Expected& expected, int heads, ConstMatrixView x, ConstMatrixView y, MatrixView product) {
  const Index width = x.cols / heads;
  for (Index r = 0; r < x.rows; ++r)
    for (Index h = 0; h < heads; ++h) {
      Sum sum;
      for (Index c = h * width; c < (h + 1) * width; ++c) sum += Near(at(x, r, c)) * at(y, r, c);
      expected.set(product, r, h, sum.total());
    }
}

/// z, d_z (src, heads·f), d_out (dst, heads·f), dot (dst, heads); scores and their gradients as
/// attention_add's. With α an arc's share and <z, d_out> · mask the gradient at it, the score's gradient is α
/// · (that − dot).
void attention_backward(Expected& expected, const Attention& a, const CsrView&, const Index*,
                        ConstMatrixView z, ConstMatrixView dst_score, ConstMatrixView src_score,
                        const SoftmaxState& state, ConstMatrixView dot, ConstMatrixView d_out, MatrixView d_z,
                        MatrixView d_src_score, MatrixView d_dst_score) {
  const CsrView& csr = a.arcs.csr;
  const Index width = z.cols / a.heads;
  std::vector<Sum> z_sums(std::size_t(d_z.rows * d_z.cols)), src_sums(std::size_t(z.rows * a.heads));
  for (Index i = 0; i < csr.rows; ++i)
    for (Index h = 0; h < a.heads; ++h) {
      Sum dst_sum;
      dst_sum += at(d_dst_score, i, h);
      for (Index e = csr.offsets[i]; e < csr.offsets[i + 1]; ++e) {
        const double sum = at(state.sum, i, h);
        if (weight(csr, e) == 0 || sum == 0) continue;
        const VertexId j = csr.columns[e];
        const Near score = Near(at(dst_score, i, h)) + at(src_score, j, h);
        const Near alpha =
            exp(leaky(score, double(a.slope)) - at(state.max, i, h)) * (Near(1) / Near(sum)) * weight(csr, e);
        const Near mask = kept(a, i, j, h);
        Sum product;
        for (Index c = h * width; c < (h + 1) * width; ++c) {
          product += Near(at(z, j, c)) * at(d_out, i, c);
          z_sums[std::size_t(j * d_z.cols + c)] += alpha * mask * at(d_out, i, c);
        }
        const Near d = alpha * (mask * product.total() - at(dot, i, h)) *
                       (score.value < 0 ? Near(double(a.slope)) : Near(1));
        dst_sum += d;
        src_sums[std::size_t(j * a.heads + h)] += d;
      }
      expected.set(d_dst_score, i, h, dst_sum.total());
    }
  for (Index j = 0; j < d_z.rows; ++j) {
    for (Index c = 0; c < d_z.cols; ++c)
      expected.set(d_z, j, c, z_sums[std::size_t(j * d_z.cols + c)].total());
    for (Index h = 0; h < a.heads; ++h)
      expected.set(d_src_score, j, h, src_sums[std::size_t(j * a.heads + h)].total());
  }
}

/// z (n, heads·f), a (heads·f), score (n, heads).
void head_dot(Expected& expected, int heads, ConstMatrixView z, const Real* a, MatrixView score) {
  attention_dot(expected, heads, z, {a, z.rows, z.cols, 0}, score);  // every row is a
}

/// z, d_z (n, heads·f), a, d_a (heads·f), d_score (n, heads).
void head_dot_backward(Expected& expected, int heads, ConstMatrixView z, const Real* a,
                       ConstMatrixView d_score, MatrixView d_z, Real* d_a) {
  const Index width = z.cols / heads;
  for (Index c = 0; c < z.cols; ++c) {
    Sum sum;
    sum += double(d_a[c]);
    for (Index r = 0; r < z.rows; ++r) {
      const Near d = at(d_score, r, c / width);
      expected.set(d_z, r, c, Near(at(d_z, r, c)) + d * double(a[c]));
      sum += d * at(z, r, c);
    }
    expected.set(d_a + c, sum.total());
  }
}

/// m (src, f), out and its state (dst, f).
void softmax_add(Expected& expected, const Arcs& a, Real t, ConstMatrixView m, const Softmaxes& softmaxes) {
  for (Index i = 0; i < a.csr.rows; ++i)
    for (Index c = 0; c < m.cols; ++c) {
      const auto score = [&](Index e) { return Near(double(t)) * at(m, a.csr.columns[e], c); };
      const auto value = [&](Index e, Index column) { return Near(at(m, a.csr.columns[e], column)); };
      add_arcs(expected, a.csr, i, c, c, 1, softmaxes, score, value);
    }
}

void softmax_finish(Expected& expected, const Softmaxes& softmaxes) {
  finish(expected, softmaxes);
}

/// m, d_m (src, f), out, d_out and the state (dst, f).
void softmax_backward(Expected& expected, const Arcs& a, const CsrView&, Real t, ConstMatrixView m,
                      const SoftmaxState& state, ConstMatrixView out, ConstMatrixView d_out, MatrixView d_m) {
  std::vector<Sum> sums(std::size_t(d_m.rows * d_m.cols));
  for (Index i = 0; i < a.csr.rows; ++i)
    for (Index e = a.csr.offsets[i]; e < a.csr.offsets[i + 1]; ++e)
      for (Index c = 0; c < m.cols && weight(a.csr, e) != 0; ++c) {
        const Index j = a.csr.columns[e];
        const Near message = at(m, j, c);
        const Near p =
            exp(message * double(t) - at(state.max, i, c)) / Near(at(state.sum, i, c)) * weight(a.csr, e);
        const Near inner = (message - at(out, i, c)) * double(t) + 1;
        sums[std::size_t(j * d_m.cols + c)] += p * at(d_out, i, c) * inner;
      }
  for (Index j = 0; j < d_m.rows; ++j)
    for (Index c = 0; c < d_m.cols; ++c) expected.set(d_m, j, c, sums[std::size_t(j * d_m.cols + c)].total());
}

}  // namespace atl::reference
