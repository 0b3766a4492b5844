// Attention and the other softmax over neighbours, forward and backward.
#include "tensor/cases/cases.h"

namespace atl::test {
namespace {

Softmaxes softmaxes(Trial& t, Index rows, Index heads, Index width) {
  return {{t.matrix(rows, heads), t.matrix(rows, heads, 0.5, 2)}, t.values(rows, heads * width)};
}

void softmax_begin_case(Trial& t, RandomSizes& sizes) {
  const Index heads = sizes(6) + 1;
  t.expect(&softmax_begin, &reference::softmax_begin, softmaxes(t, sizes(90), heads, sizes(40)));
}
void softmax_merge_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const Index rows = sizes(90), heads = sizes(6) + 1, width = sizes(40);
  const Softmaxes one = softmaxes(t, rows, heads, width), other = softmaxes(t, rows, heads, width);
  if (rows > 1) {  // nothing yet in one of them, in both
    one.state.max.row(0)[0] = -std::numeric_limits<Real>::infinity();
    one.state.max.row(1)[0] = other.state.max.row(1)[0] = -std::numeric_limits<Real>::infinity();
  }
  t.may_differ(kFunctions);
  t.expect(&softmax_merge, &reference::softmax_merge, one, other);
}
void attention_finish_case(Trial& t, RandomSizes& sizes) {
  const Index rows = sizes(90), heads = sizes(6) + 1;
  const Softmaxes s = softmaxes(t, rows, heads, sizes(40));
  if (rows > 0) s.state.sum.row(0)[0] = 0;
  t.may_differ(kFunctions);
  t.expect(&attention_finish, &reference::attention_finish, s);
}
void softmax_finish_case(Trial& t, RandomSizes& sizes) {
  const Index rows = sizes(90), cols = sizes(100);
  const Softmaxes s = softmaxes(t, rows, cols, 1);
  if (rows > 0 && cols > 0) s.state.sum.row(0)[0] = 0;
  t.may_differ(kFunctions);
  t.expect(&softmax_finish, &reference::softmax_finish, s);
}

/// Unweighted, weighted, or with arcs of weight 0: all that some rows have, and those of source 0.
TestGraph graph(Trial& t, Index rows, Index cols) {
  const unsigned seed = t.draw();
  const int degree = cols > 4096 ? 210 : t.draw() % 4 == 0 ? 40 : 5;
  return t.toss() ? random_graph(seed, rows, cols, degree, t.toss())
                  : weightless_graph(seed, rows, cols, degree, {0});
}
bool weighs_nothing(const TestGraph& g, Index arc) {
  return !g.weights.empty() && g.weights[std::size_t(arc)] == 0;
}
/// Scores or messages of the sources; far above the others where all of a source's arcs weigh 0.
MatrixView loud(const TestGraph& g, MatrixView m) {
  if (m.halves != nullptr || m.rows == 0) return m;
  for (Index e = 0; e < Index(g.columns.size()); ++e)
    if (g.columns[std::size_t(e)] == 0 && !weighs_nothing(g, e)) return m;
  for (Index c = 0; c < m.cols; ++c) m.row(0)[c] += 300;
  return m;
}
/// As attention's, or the other softmax's, way there leaves it: nothing where all arcs of a destination weigh
/// 0.
SoftmaxState state_over(Trial& t, const TestGraph& g, Index heads) {
  const SoftmaxState state{t.matrix(g.rows, heads, 1, 2), t.matrix(g.rows, heads, 2, 4)};
  for (Index r = 0; r < g.rows; ++r) {
    Index arc = g.offsets[std::size_t(r)];
    const Index end = g.offsets[std::size_t(r) + 1];
    while (arc < end && weighs_nothing(g, arc)) ++arc;
    if (arc < end) continue;
    for (Index h = 0; h < heads; ++h)
      state.max.row(r)[h] = -std::numeric_limits<Real>::infinity(), state.sum.row(r)[h] = 0;
  }
  return state;
}
Attention attention(Trial& t, const TestGraph& g, int heads) {
  Attention a;
  a.arcs = {t.csr(g)};
  a.heads = heads;
  a.dropout_rate = t.toss() ? 0.4 : 0;
  a.draws = Draws(t.draw(), Purpose::kAttentionDropout, 2);
  a.dst_ids = t.ids(g.rows), a.src_ids = t.ids(g.cols);
  return a;
}
/// Seldom wider than one group of lanes does at once; such that rows can be read by packs, or not.
Index head_width(Trial& t, RandomSizes& sizes) {
  const Index width = t.draw() % 5 == 0 ? 300 + sizes(300) : sizes(40);
  return t.toss() ? width : width / 8 * 8 + 4 * Index(t.draw() % 3);
}

}  // namespace

void attention_add_of(Trial& t, const AttentionShape& shape) {
  const auto [dst, src, width, heads] = shape;
  const TestGraph g = graph(t, dst, src);
  const Attention a = attention(t, g, heads);
  const Softmaxes s = softmaxes(t, dst, heads, width);
  if (t.toss())  // the first block
    for (Index r = 0; r < dst; ++r)
      for (Index h = 0; h < heads; ++h)
        s.state.max.row(r)[h] = -std::numeric_limits<Real>::infinity(), s.state.sum.row(r)[h] = 0;
  t.may_differ(kSums);
  t.expect(&attention_add, &reference::attention_add, a, t.values(src, heads * width), t.matrix(dst, heads),
           loud(g, t.matrix(src, heads)), s);
}

namespace {

void attention_add_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const bool many = t.draw() % 6 == 0;  // sources: then hubs are listed
  attention_add_of(t,
                   {sizes(60), many ? 5000 : sizes(60), many ? 20 : head_width(t, sizes), int(sizes(5)) + 1});
}
void attention_dot_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const Index n = sizes(90), width = head_width(t, sizes);
  const int heads = int(sizes(5)) + 1;
  t.may_differ(kSums);
  t.expect(&attention_dot, &reference::attention_dot, heads, t.values(n, heads * width),
           t.values(n, heads * width), t.matrix(n, heads));
}
}  // namespace

void attention_backward_of(Trial& t, const AttentionShape& shape) {
  const auto [dst, src, width, heads] = shape;
  const TestGraph g = graph(t, dst, src), back = transposed(g);
  const Attention a = attention(t, g, heads);
  const CsrView transpose = t.csr(back);
  const Index* const arc_of = t.copy(back.arc_of).data();
  const SoftmaxState state = state_over(t, g, heads);
  t.may_differ(kSums * 3);
  t.expect(&attention_backward, &reference::attention_backward, a, transpose, arc_of,
           t.values(src, heads * width), t.matrix(dst, heads), loud(g, t.matrix(src, heads)), state,
           t.matrix(dst, heads), t.values(dst, heads * width), t.values(src, heads * width),
           t.matrix(src, heads), t.matrix(dst, heads));
}

namespace {

void attention_backward_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  attention_backward_of(t, {sizes(60), sizes(60), head_width(t, sizes), int(sizes(5)) + 1});
}
void head_dot_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), width = head_width(t, sizes);
  const int heads = int(sizes(5)) + 1;
  t.may_differ(kSums);
  t.expect(&head_dot, &reference::head_dot, heads, t.values(n, heads * width), t.reals(heads * width),
           t.matrix(n, heads));
}
void head_dot_backward_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const Index n = sizes(300), width = head_width(t, sizes);
  const int heads = int(sizes(5)) + 1;
  t.may_differ(kSums);
  t.expect(&head_dot_backward, &reference::head_dot_backward, heads, t.values(n, heads * width),
           t.reals(heads * width), t.matrix(n, heads), t.values(n, heads * width), t.reals(heads * width));
}

void softmax_add_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const bool many = t.draw() % 6 == 0;
  const Index dst = sizes(60), src = many ? 5000 : sizes(60), cols = sizes(many ? 20 : 150);
  const Softmaxes s = softmaxes(t, dst, cols, 1);
  if (t.toss())
    for (Index r = 0; r < dst; ++r)
      for (Index c = 0; c < cols; ++c)
        s.state.max.row(r)[c] = -std::numeric_limits<Real>::infinity(), s.state.sum.row(r)[c] = 0;
  const TestGraph g = graph(t, dst, src);
  t.may_differ(kSums);
  t.expect(&softmax_add, &reference::softmax_add, Arcs{t.csr(g)}, Real(0.7),
           loud(g, t.values(src, cols, -3, 3)), s);
}
void softmax_backward_case(Trial& t, RandomSizes& sizes) {
  t.mostly_alike();
  const Index dst = sizes(60), src = sizes(60), cols = sizes(150);
  const TestGraph g = graph(t, dst, src);
  const SoftmaxState state = state_over(t, g, cols);
  t.may_differ(kSums);
  t.expect(&softmax_backward, &reference::softmax_backward, Arcs{t.csr(g)}, t.csr(transposed(g)), Real(0.7),
           loud(g, t.values(src, cols)), state, t.values(dst, cols), t.values(dst, cols),
           t.values(src, cols));
}

}  // namespace

std::vector<NamedCase> softmax_cases() {
  return {{"softmax_begin", softmax_begin_case},       {"softmax_merge", softmax_merge_case},
          {"attention_add", attention_add_case},       {"attention_finish", attention_finish_case},
          {"attention_dot", attention_dot_case, true}, {"attention_backward", attention_backward_case},
          {"head_dot", head_dot_case, true},           {"head_dot_backward", head_dot_backward_case, true},
          {"softmax_add", softmax_add_case},           {"softmax_finish", softmax_finish_case},
          {"softmax_backward", softmax_backward_case}};
}

}  // namespace atl::test
