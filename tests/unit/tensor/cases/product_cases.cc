// Sums over neighbours, dense, sparse and bit products.
#include "tensor/cases/cases.h"

namespace atl::test {
namespace {

constexpr Index kManySources = 5000;  // enough for a GPU to list hubs

/// One row, the second, is a hub where there are columns: of many sources it has more arcs than a chunk of
/// the CPU's.
TestGraph graph(Trial& t, Index rows, Index cols, bool weighted) {
  const int degree = cols == kManySources ? 210 : t.draw() % 4 == 0 ? 40 : 5;
  return random_graph(t.draw(), rows, cols, degree, weighted);
}

/// Infinite where a row has no arcs, as 1 / degree is: that row's sum is 0 all the same.
const Real* row_scale(Trial& t, const CsrView& csr) {
  Real* const scale = t.reals(csr.rows);
  for (Index r = 0; r < csr.rows; ++r)
    if (csr.offsets[r] == csr.offsets[r + 1]) scale[r] = std::numeric_limits<Real>::infinity();
  return scale;
}

void spmm_case(Trial& t, RandomSizes& sizes) {
  const bool many = t.draw() % 6 == 0, slices = !many && t.draw() % 4 == 0;
  const Index rows = sizes(90), cols = many ? kManySources : sizes(70),
              f = slices ? 64 * Index(1 + t.draw() % 4) : sizes(many ? 70 : 300);
  Arcs a{t.csr(graph(t, rows, cols, t.toss()))};
  if (t.toss()) a.row_scale = row_scale(t, a.csr);
  if (t.toss()) a.col_scale = t.reals(cols);
  const Epilogue e = t.toss() ? t.epilogue(rows, f) : Epilogue{};
  t.may_differ(kSums, e.norm == Epilogue::Norm::kLayer ? kNormsOfHalves : kSums);
  t.expect(&spmm, &reference::spmm, a, t.values(cols, f), t.values(rows, f), t.toss(), e);
}

void gemm_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(80), k = sizes(60), m = sizes(70);
  t.may_differ(kSums, kNormsOfHalves);
  t.expect(&gemm, &reference::gemm, t.values(n, k), t.matrix(k, m), t.values(n, m), t.toss(),
           t.epilogue(n, m));
}
void gemm_bt_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(80), k = sizes(60), m = sizes(70);
  t.may_differ(kSums, kHalf);
  t.expect(&gemm_bt, &reference::gemm_bt, t.values(n, k), t.matrix(m, k), t.values(n, m), t.toss(),
           t.toss() ? t.dropout(n) : Dropout{});
}
void gemm_at_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(200), k = sizes(60), m = sizes(70), first = sizes(k);
  t.may_differ(kSums, kHalves);
  t.expect(&gemm_at, &reference::gemm_at, t.values(n, k), t.toss() ? t.dropout(n) : Dropout{}, t.values(n, m),
           t.matrix(k - first, m), t.toss(), first);
}

SparseRows sparse(Trial& t, Index n, Index features) {
  TestGraph g = graph(t, n, features, true);
  if (g.weights.empty()) g.weights.assign(1, 1.0f);  // values are never null
  TestGraph back = transposed(g);
  if (back.weights.empty()) back.weights.assign(1, 1.0f);
  return {t.csr(g), t.csr(back)};
}
/// Its values are drawn one by one.
Dropout dropout_of_values(Trial& t, Index rows) {
  Dropout d = t.dropout(rows);
  d.begin = 0, d.end = rows;
  return t.toss() ? d : Dropout{};
}
void sparse_gemm_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(80), features = sizes(60), m = sizes(150);
  t.may_differ(kSums, kNormsOfHalves);
  t.expect(&sparse_gemm, &reference::sparse_gemm, sparse(t, n, features), dropout_of_values(t, n),
           t.matrix(features, m), t.values(n, m), t.toss() ? t.epilogue(n, m) : Epilogue{});
}
void sparse_gemm_at_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(80), features = sizes(60), m = sizes(150), first = sizes(features);
  t.may_differ(kSums);
  t.expect(&sparse_gemm_at, &reference::sparse_gemm_at, sparse(t, n, features), dropout_of_values(t, n),
           t.values(n, m), t.matrix(features - first, m), t.toss(), first);
}

BitRows bit_rows(Trial& t, Index n, Index features) {
  const BitMatrix bits = random_bits(t.draw(), n, features);
  return {t.bits(bits), t.bits(transpose(bits.view())), t.reals(n)};
}
void bit_gemm_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(60), features = t.draw() % 5 == 0 ? 4200 : sizes(100), m = sizes(70);
  t.may_differ(kSums * 3);
  t.expect(&bit_gemm, &reference::bit_gemm, bit_rows(t, n, features), t.matrix(features, m), t.values(n, m),
           t.toss(), t.toss() ? t.epilogue(n, m) : Epilogue{});
}
void bit_gemm_at_case(Trial& t, RandomSizes& sizes) {
  const Index n = t.draw() % 5 == 0 ? 4200 : sizes(100), features = sizes(60), m = sizes(70),
              first = sizes(features);
  t.may_differ(kSums * 3);
  t.expect(&bit_gemm_at, &reference::bit_gemm_at, bit_rows(t, n, features), t.values(n, m),
           t.matrix(features - first, m), t.toss(), first);
}

}  // namespace

std::vector<NamedCase> product_cases() {
  return {{"spmm", spmm_case, true},
          {"gemm", gemm_case, true},
          {"gemm_bt", gemm_bt_case, true},
          {"gemm_at", gemm_at_case, true},
          {"sparse_gemm", sparse_gemm_case, true},
          {"sparse_gemm_at", sparse_gemm_at_case, true},
          {"bit_gemm", bit_gemm_case, true},
          {"bit_gemm_at", bit_gemm_at_case, true}};
}

}  // namespace atl::test
