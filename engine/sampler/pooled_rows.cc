#include "sampler/pooled_rows.h"

namespace atl {

std::vector<Real> mean_features(const BatchGraph& graph, Rank rank, bool training_alone) {
  const ConstMatrixView& rows = graph.features;
  std::vector<double> sums(std::size_t(rows.cols));
  Index count = 0;
  const auto add = [&](Index row) {
    for (Index c = 0; c < rows.cols; ++c) sums[std::size_t(c)] += double(rows.at(row, c));
    ++count;
  };
  if (training_alone) {
    for (const auto& part : graph.training_rows.by_part)
      for (const VertexId row : part) add(row - graph.owners.first_row(rank));
  } else {
    for (Index row = 0; row < rows.rows; ++row) add(row);
  }
  std::vector<Real> means;
  for (const double sum : sums) means.push_back(Real(count > 0 ? sum / double(count) : 0));
  return means;
}

}  // namespace atl
