// Random graphs in the form of data sets.
#pragma once

#include <map>

#include "tensor/fixtures.h"

namespace atl::test {

/// The same rows with each column once, ascending, as in a data set.
inline TestGraph without_duplicates(const TestGraph& g) {
  TestGraph once{g.rows, g.cols, {0}, {}, {}, {}};
  for (std::size_t r = 0; r < std::size_t(g.rows); ++r) {
    std::map<VertexId, float> row;
    for (auto e = std::size_t(g.offsets[r]); e < std::size_t(g.offsets[r + 1]); ++e)
      row.emplace(g.columns[e], g.weights.empty() ? 1 : g.weights[e]);
    for (const auto& [column, weight] : row) {
      once.columns.push_back(column);
      if (!g.weights.empty()) once.weights.push_back(weight);
    }
    once.offsets.push_back(Index(once.columns.size()));
  }
  return once;
}

}  // namespace atl::test
