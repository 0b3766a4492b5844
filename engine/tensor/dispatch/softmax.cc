// Softmaxes over neighbours, attention's and column by column: checks shapes, and calls the device's kernel.
#include "tensor/dispatch/dispatch.h"

namespace atl {
namespace {

void check(const SoftmaxState& s, Index rows, Index cols) {
  ATOLL_CHECK(s.max.rows == rows && s.sum.rows == rows && s.max.cols == cols && s.sum.cols == cols,
              "max {} x {}, sum {} x {} where {} x {} is needed", s.max.rows, s.max.cols, s.sum.rows,
              s.sum.cols, rows, cols);
}

void check(const Softmaxes& s) {
  const Index heads = s.state.sum.cols;
  check(s.state, s.out.rows, heads);
  ATOLL_CHECK(heads == 0 ? s.out.cols == 0 : s.out.cols % heads == 0, "out {} x {} of {} heads", s.out.rows,
              s.out.cols, heads);
}

/// Checks the arguments that forward and backward have in common.
void check(const Attention& a, ConstMatrixView z, ConstMatrixView dst_score, ConstMatrixView src_score,
           const SoftmaxState& state) {
  const Index dst = a.arcs.csr.rows, src = a.arcs.csr.cols, heads = a.heads;
  ATOLL_CHECK(heads >= 1 && z.cols % heads == 0 && z.rows == src, "z {} x {} of {} heads", z.rows, z.cols,
              heads);
  ATOLL_CHECK(dst_score.rows == dst && dst_score.cols == heads, "dst_score {} x {}", dst_score.rows,
              dst_score.cols);
  ATOLL_CHECK(src_score.rows == src && src_score.cols == heads, "src_score {} x {}", src_score.rows,
              src_score.cols);
  check(state, dst, heads);
  ATOLL_CHECK(a.dropout_rate == 0 || (Index(a.dst_ids.size()) == dst && Index(a.src_ids.size()) == src),
              "{} and {} ids for {} and {} rows", a.dst_ids.size(), a.src_ids.size(), dst, src);
}

void check_heads(int heads, ConstMatrixView x, ConstMatrixView product) {
  ATOLL_CHECK(heads >= 1 && x.cols % heads == 0 && product.rows == x.rows && product.cols == heads,
              "{} x {} and {} x {} of {} heads", x.rows, x.cols, product.rows, product.cols, heads);
}

void check_transpose(const CsrView& transpose, const CsrView& arcs) {
  ATOLL_CHECK(transpose.rows == arcs.cols && transpose.cols == arcs.rows, "transpose {} x {} of {} x {}",
              transpose.rows, transpose.cols, arcs.rows, arcs.cols);
}

}  // namespace

void softmax_begin(Context& ctx, const Softmaxes& softmaxes) {
  check(softmaxes);
  add_work(ctx, [&] {
    return terms(softmaxes.out.rows, double(2 * softmaxes.state.sum.cols + softmaxes.out.cols));
  });
  ATOLL_CALL(softmax_begin, ctx, softmaxes);
}

void softmax_merge(Context& ctx, const Softmaxes& s, const Softmaxes& other) {
  check(s), check(other);
  check_same_shape(s.out, other.out);
  check_same_shape(s.state.sum, other.state.sum);
  ATOLL_CALL(softmax_merge, ctx, s, other);
}

void attention_add(Context& ctx, const Attention& a, ConstMatrixView z, ConstMatrixView dst_score,
                   ConstMatrixView src_score, const Softmaxes& softmaxes) {
  check(a, z, dst_score, src_score, softmaxes.state);
  ATOLL_CHECK(softmaxes.out.rows == a.arcs.csr.rows && softmaxes.out.cols == z.cols, "out {} x {}",
              softmaxes.out.rows, softmaxes.out.cols);
  add_work(ctx, [&] {
    return gathers(a.arcs.csr, z.row_bytes() + a.heads * Index(sizeof(Real))) +
           attention_terms(a.arcs.csr, a.heads) + streams(dst_score, softmaxes);
  });
  ATOLL_CALL_UNCOUNTED(attention_add, ctx, a, z, dst_score, src_score, softmaxes);
}

void attention_finish(Context& ctx, const Softmaxes& softmaxes) {
  check(softmaxes);
  add_work(ctx, [&] { return terms(softmaxes.out.rows, 0.6 * double(softmaxes.out.cols)); });
  ATOLL_CALL(attention_finish, ctx, softmaxes);
}

void attention_dot(Context& ctx, int heads, ConstMatrixView out, ConstMatrixView d_out, MatrixView dot) {
  check_same_shape(out, d_out);
  check_heads(heads, out, dot);
  add_work(ctx, [&] { return head_terms(out.rows, heads, 5, out.cols, 0.3); });
  ATOLL_CALL(attention_dot, ctx, heads, out, d_out, dot);
}

void attention_backward(Context& ctx, const Attention& a, const CsrView& transpose,
                        const Index* transpose_arc, ConstMatrixView z, ConstMatrixView dst_score,
                        ConstMatrixView src_score, const SoftmaxState& state, ConstMatrixView dot,
                        ConstMatrixView d_out, MatrixView d_z, MatrixView d_src_score,
                        MatrixView d_dst_score) {
  check(a, z, dst_score, src_score, state);
  check_transpose(transpose, a.arcs.csr);
  // Each arc reads the gradient of its other end for z's gradient, and z for the scores' gradients. To begin
  // a source takes longer than to begin a destination, because the vectors of a source in a halo's block are
  // mostly empty.
  constexpr double kOfASource = 130;
  add_work(ctx, [&] {
    const ComputeWork once = gathers(a.arcs.csr, z.row_bytes() + a.heads * Index(sizeof(Real)));
    return once + once + attention_terms(a.arcs.csr, a.heads, 2) + terms(a.arcs.csr.cols, kOfASource) +
           streams(d_out, d_z, d_src_score, d_dst_score);
  });
  ATOLL_CALL_UNCOUNTED(attention_backward, ctx, a, transpose, transpose_arc, z, dst_score, src_score, state,
                       dot, d_out, d_z, d_src_score, d_dst_score);
}

void head_dot(Context& ctx, int heads, ConstMatrixView z, const Real* a, MatrixView score) {
  check_heads(heads, z, score);
  add_work(ctx, [&] { return head_terms(z.rows, heads, 4, z.cols, 0.2); });
  ATOLL_CALL(head_dot, ctx, heads, z, a, score);
}

void head_dot_backward(Context& ctx, int heads, ConstMatrixView z, const Real* a, ConstMatrixView d_score,
                       MatrixView d_z, Real* d_a) {
  check_heads(heads, z, d_score);
  check_same_shape(d_z, z);
  add_work(ctx, [&] { return head_terms(z.rows, heads, 13, z.cols, 0.6); });
  ATOLL_CALL(head_dot_backward, ctx, heads, z, a, d_score, d_z, d_a);
}

void softmax_add(Context& ctx, const Arcs& a, Real t, ConstMatrixView m, const Softmaxes& softmaxes) {
  const MatrixView out = softmaxes.out;
  ATOLL_CHECK(m.rows == a.csr.cols && out.rows == a.csr.rows && m.cols == out.cols, "m {} x {}, out {} x {}",
              m.rows, m.cols, out.rows, out.cols);
  check(softmaxes.state, out.rows, out.cols);
  add_work(ctx,
           [&] { return gathers(a.csr, m.row_bytes()) + terms(a.csr.arcs(), m.cols) + streams(softmaxes); });
  ATOLL_CALL_UNCOUNTED(softmax_add, ctx, a, t, m, softmaxes);
}

void softmax_finish(Context& ctx, const Softmaxes& softmaxes) {
  check(softmaxes.state, softmaxes.out.rows, softmaxes.out.cols);
  ATOLL_CALL(softmax_finish, ctx, softmaxes);
}

void softmax_backward(Context& ctx, const Arcs& a, const CsrView& transpose, Real t, ConstMatrixView m,
                      const SoftmaxState& state, ConstMatrixView out, ConstMatrixView d_out, MatrixView d_m) {
  check_transpose(transpose, a.csr);
  ATOLL_CHECK(m.rows == a.csr.cols, "m {} x {}", m.rows, m.cols);
  check_same_shape(d_m, m);
  // Each arc reads from its other end: gradient, output, and the softmax's maximum and sum.
  add_work(ctx,
           [&] { return gathers(a.csr, 4 * m.row_bytes()) + terms(a.csr.arcs(), m.cols) + streams(m, d_m); });
  ATOLL_CALL_UNCOUNTED(softmax_backward, ctx, a, transpose, t, m, state, out, d_out, d_m);
}

}  // namespace atl
