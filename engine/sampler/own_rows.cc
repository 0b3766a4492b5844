#include "sampler/own_rows.h"

#include <algorithm>
#include <numeric>

#include "tensor/bfloat16.h"

namespace atl {
namespace {

constexpr Index kRowsAsked = 4096;

}  // namespace

OwnRow own_row(const DrawnArcs& arcs, std::span<const VertexId> rows, Index i) {
  const auto begin = std::size_t(arcs.offsets[i]), count = std::size_t(arcs.offsets[i + 1]) - begin;
  const auto weights = arcs.weights.span();
  return {rows[std::size_t(i)], arcs.neighbours[i].degree, arcs.columns.span().subspan(begin, count),
          weights.empty() ? weights : weights.subspan(begin, count)};
}

void for_each_own_row(const SetInput& in, FunctionRef<void(const OwnRow&)> visit) {
  const Index first = in.owners.first_row(in.rank()), end = first + in.owners.rows(in.rank());
  DrawnArcs arcs;
  std::vector<VertexId> rows;
  for (Index begin = first; begin < end; begin += kRowsAsked) {
    rows.resize(std::size_t(std::min(kRowsAsked, end - begin)));
    std::iota(rows.begin(), rows.end(), VertexId(begin));
    in.own_rows.draw({}, rows, arcs);
    for (Index i = 0; i < Index(rows.size()); ++i) visit(own_row(arcs, rows, i));
  }
}

std::vector<Real> mean_features(const BatchGraph& graph, Rank rank, bool training_alone) {
  const Rows& rows = graph.features;
  std::vector<double> sums(std::size_t(rows.cols()));
  Index count = 0;
  const auto add = [&](Index row) {
    ++count;
    if (rows.packed())
      return for_each_entry(rows, row,
                            [&](VertexId c, Real value) { sums[std::size_t(c)] += double(value); });
    const ConstMatrixView dense = rows.dense.slice_rows(row, 1);
    for (Index c = 0; c < rows.cols(); ++c) {
      const Real value = dense.halves != nullptr ? Real(to_float(dense.halves[c])) : dense.data[c];
      sums[std::size_t(c)] += double(value);
    }
  };
  if (training_alone) {
    for (const auto& part : graph.training_rows.by_part)
      for (const VertexId row : part) add(row - graph.owners.first_row(rank));
  } else {
    for (Index row = 0; row < rows.rows(); ++row) add(row);
  }
  std::vector<Real> means;
  for (const double sum : sums) means.push_back(Real(count > 0 ? sum / double(count) : 0));
  return means;
}

namespace {

void add_to(RowTable& table, Reusable<VertexId>& columns, Reusable<double>& values, VertexId column,
            double value) {
  const auto next = VertexId(columns.size());
  const VertexId at = table.find_or_add(column, next);
  if (at == next) {
    columns.push(column);
    values.push(0);
  }
  values[at] += value;
}

}  // namespace

void ColumnSums::clear() {
  table_.clear();
  columns_.take(0), values_.take(0);
}

void ColumnSums::add(VertexId column, double value) {
  add_to(table_, columns_, values_, column, value);
}

/// Reverses the requests' direction: the asking rank sends its values along with the row numbers.
void ColumnSums::sum() {
  requests_.ask(Traffic::kStructure, columns_.span());
  const auto places = requests_.places();
  wanted_.take(Index(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) wanted_[Index(i)] = values_[places[i]];
  const auto asked = requests_.asked();
  const RowRequests::Answers values{wanted_.data(), requests_.wanted_begin(),
                                    asked_.take(Index(asked.size())).data(), requests_.asked_begin(),
                                    Index(sizeof(double))};
  requests_.answer(Traffic::kStructure, {&values, 1});
  summed_table_.clear();
  summed_columns_.take(0), sums_.take(0);
  for (std::size_t i = 0; i < asked.size(); ++i)
    add_to(summed_table_, summed_columns_, sums_, asked[i], asked_[Index(i)]);
}

Index ColumnSums::reallocations() const {
  return requests_.reallocations() + table_.reallocations() + summed_table_.reallocations() +
         columns_.reallocations() + summed_columns_.reallocations() + values_.reallocations() +
         wanted_.reallocations() + asked_.reallocations() + sums_.reallocations();
}

double squared_entry(Normalisation normalisation, double weight, double degree) {
  const double entry = weight * double(dst_factor(normalisation, degree));
  return entry * entry;
}

std::vector<double> squared_source_factors(const SetInput& in) {
  std::vector<double> factors;
  if (in.normalisation != Normalisation::kSymmetric) return factors;
  factors.reserve(std::size_t(in.owners.rows(in.rank())));
  for_each_own_row(in, [&](const OwnRow& row) {
    const auto factor = double(src_factor(in.normalisation, row.degree));
    factors.push_back(factor * factor);
  });
  return factors;
}

std::vector<double> column_norms(const SetInput& in) {
  ColumnSums sums(in.owners, in.comm);
  sums.clear();
  for_each_own_row(in, [&](const OwnRow& row) {
    for (std::size_t e = 0; e < row.columns.size(); ++e)
      sums.add(row.columns[e], squared_entry(in.normalisation, row.weight(e), row.degree));
  });
  sums.sum();
  const std::vector<double> factors = squared_source_factors(in);
  const Index first = in.owners.first_row(in.rank());
  std::vector<double> norms(std::size_t(in.owners.rows(in.rank())), 0);
  for (std::size_t i = 0; i < sums.columns().size(); ++i) {
    const auto row = std::size_t(sums.columns()[i] - first);
    norms[row] = sums.sums()[i] * (factors.empty() ? 1 : factors[row]);
  }
  return norms;
}

}  // namespace atl
