#include "sampler/own_rows.h"

#include <algorithm>
#include <numeric>

#include "tensor/bfloat16.h"

namespace atl {
namespace {

constexpr Index kPiece = 4096;

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
  for (Index begin = first; begin < end; begin += kPiece) {
    rows.resize(std::size_t(std::min(kPiece, end - begin)));
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

}  // namespace atl
