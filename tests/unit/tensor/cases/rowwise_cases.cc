// The epilogue and its backward, sums over rows, elementwise operations, packing and rounding of rows.
#include "tensor/cases/cases.h"

namespace atl::test {
namespace {

void apply_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(200);
  const MatrixView x = t.values(n, m);
  t.may_differ(kFunctions * 10, kHalves);
  t.expect(&apply, &reference::apply, t.epilogue(n, m), x, t.toss() ? x : t.values(n, m));
}

void apply_backward_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), m = sizes(150);
  const Epilogue e = t.epilogue(n, m);
  if (e.norm == Epilogue::Norm::kLayer && !e.row_stats.empty())
    for (Index r = 0; r < n; ++r) e.row_stats.row(r)[1] = Real(0.8);
  EpilogueGradient g;
  if (e.bias != nullptr) g.bias = t.reals(m);
  if (e.gain != nullptr) g.gain = t.reals(m), g.shift = t.reals(m);
  if (!e.residual.empty()) g.residual = t.values(n, m);
  const bool batch = e.norm == Epilogue::Norm::kBatch;
  const std::span<const double> sums(batch ? t.doubles(2 * m) : nullptr, batch ? std::size_t(2 * m) : 0);
  t.may_differ(kSums * 3, kNormsOfHalves);
  t.expect(&apply_backward, &reference::apply_backward, e, t.values(n, m), t.finished_values(e, n, m),
           t.values(n, m), g, sums, double(n + 1));
}

void zero_sums_case(Trial& t, RandomSizes& sizes) {
  const auto count = std::size_t(sizes(2000));
  t.expect(&zero_sums, &reference::zero_sums, std::span(t.doubles(Index(count)), count));
}
void column_sums_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(800), m = sizes(90);
  const bool weighted = t.toss();
  const std::span<const Real> weights(weighted ? t.reals(n) : nullptr, weighted ? std::size_t(n) : 0);
  t.may_differ(kSums);
  t.expect(&column_sums, &reference::column_sums, t.values(n, m), t.doubles(2 * m), weights);
}
void column_sums_backward_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(300), m = sizes(90);
  Epilogue e = t.epilogue(n, m);
  e.norm = Epilogue::Norm::kBatch;
  e.row_stats = {};
  e.col_mean = t.reals(m), e.col_rstd = t.reals(m, 0.5, 1.5);
  t.may_differ(kSums);
  t.expect(&column_sums_backward, &reference::column_sums_backward, e, t.values(n, m),
           t.finished_values(e, n, m), t.values(n, m), t.doubles(2 * m));
}
void sum_rows_case(Trial& t, RandomSizes& sizes) {
  const Index m = sizes(90);
  t.may_differ(kSums);
  t.expect(&sum_rows, &reference::sum_rows, t.values(sizes(900), m), t.reals(m), t.toss());
}

void dropout_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(200);
  const MatrixView x = t.values(n, m);
  t.may_differ(0, kFunctions);
  t.expect(&dropout, &reference::dropout, t.toss() ? t.dropout(n) : Dropout{}, x,
           t.toss() ? x : t.values(n, m));
}
void fill_case(Trial& t, RandomSizes& sizes) {
  t.expect(&fill, &reference::fill, t.toss() ? Real(0) : Real(1.5), t.values(sizes(90), sizes(200)));
}
void axpby_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(200);
  t.may_differ(kFunctions);
  t.expect(&axpby, &reference::axpby, Real(0.7), t.values(n, m), t.toss() ? Real(0) : Real(-1.3),
           t.values(n, m));
}
void scale_case(Trial& t, RandomSizes& sizes) {
  t.may_differ(0, kFunctions);
  t.expect(&scale, &reference::scale, Real(0.7), t.values(sizes(90), sizes(200)));
}
void scale_rows_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90);
  t.may_differ(0, kFunctions);
  t.expect(&scale_rows, &reference::scale_rows, t.reals(n), t.values(n, sizes(200)));
}

std::span<const VertexId> rows_below(Trial& t, Index count, Index below) {
  std::vector<VertexId> ids(static_cast<std::size_t>(below == 0 ? 0 : count));
  for (VertexId& id : ids) id = VertexId(t.draw() % unsigned(below));
  return t.copy(ids);
}
void gather_rows_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(130);
  const auto index = rows_below(t, sizes(120), n);
  t.expect(&gather_rows, &reference::gather_rows, t.values(n, m), index.data(),
           t.values(Index(index.size()), m));
}
void scatter_add_rows_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(130);
  const auto index = t.some_rows(n);
  t.may_differ(0, kHalf);
  t.expect(&scatter_add_rows, &reference::scatter_add_rows, t.values(Index(index.size()), m), index.data(),
           t.values(n, m));
}
void scatter_rows_case(Trial& t, RandomSizes& sizes) {
  const Index n = sizes(90), m = sizes(130);
  const auto index = t.some_rows(n);
  t.expect(&scatter_rows, &reference::scatter_rows, t.values(Index(index.size()), m), index.data(),
           t.values(n, m));
}

void norm_statistics_case(Trial& t, RandomSizes& sizes) {
  const Index m = sizes(300);
  t.may_differ(kFunctions);
  t.expect(&norm_statistics, &reference::norm_statistics,
           std::span<const double>(t.doubles(2 * m, 0, 9), std::size_t(2 * m)), 7.0, t.matrix(2, m));
}
void known_statistics_case(Trial& t, RandomSizes& sizes) {
  const Index m = sizes(300);
  t.may_differ(kFunctions);
  t.expect(&known_statistics, &reference::known_statistics, t.reals(m), t.reals(m, 0, 3), t.matrix(2, m));
}
void move_running_statistics_case(Trial& t, RandomSizes& sizes) {
  const Index m = sizes(300);
  t.may_differ(kFunctions);
  t.expect(&move_running_statistics, &reference::move_running_statistics,
           std::span<const double>(t.doubles(2 * m, 0, 9), std::size_t(2 * m)), t.toss() ? 1.0 : 7.0, 0.1,
           t.reals(m), t.reals(m));
}

void narrow_in_place_case(Trial& t, RandomSizes& sizes) {
  t.expect(&narrow_in_place, &reference::narrow_in_place, t.contiguous(sizes(400), sizes(300)));
}
/// Of any halves, those that are no number too: the memory begins with random bytes.
void widen_in_place_case(Trial& t, RandomSizes& sizes) {
  t.expect(&widen_in_place, &reference::widen_in_place, t.contiguous(sizes(400), sizes(300)));
}

}  // namespace

std::vector<NamedCase> rowwise_cases() {
  return {{"apply", apply_case},
          {"apply_backward", apply_backward_case, true},
          {"zero_sums", zero_sums_case},
          {"column_sums", column_sums_case, true},
          {"column_sums_backward", column_sums_backward_case, true},
          {"sum_rows", sum_rows_case, true},
          {"dropout", dropout_case},
          {"fill", fill_case},
          {"axpby", axpby_case},
          {"scale", scale_case},
          {"scale_rows", scale_rows_case},
          {"gather_rows", gather_rows_case},
          {"scatter_add_rows", scatter_add_rows_case, true},
          {"scatter_rows", scatter_rows_case},
          {"norm_statistics", norm_statistics_case},
          {"known_statistics", known_statistics_case},
          {"move_running_statistics", move_running_statistics_case},
          {"narrow_in_place", narrow_in_place_case},
          {"widen_in_place", widen_in_place_case}};
}

}  // namespace atl::test
