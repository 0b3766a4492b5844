// Small random graphs for tests: directed, with rows of very different lengths, empty rows, loops and
// duplicates.
#pragma once

#include <algorithm>

#include "base/random.h"
#include "graph/csr.h"

namespace atl {

struct RandomGraph {
  Index vertices = 50;
  Index arcs = 200;
  std::uint64_t seed = 1;
  bool weighted = false;
};

inline Csr random_graph(const RandomGraph& options) {
  const Draws draws(options.seed, Purpose::kGenerator);
  std::vector<std::vector<VertexId>> rows(std::size_t(options.vertices));
  for (Index e = 0; e < options.arcs; ++e) {
    const auto key = std::uint64_t(e);
    const double skewed = draws.uniform_at(key, 0) * draws.uniform_at(key, 1);  // low ids have long rows
    rows[std::size_t(skewed * double(options.vertices))].push_back(
        VertexId(draws.uniform_at(key, 2) * double(options.vertices)));
  }
  Csr csr;
  csr.rows = csr.cols = options.vertices;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    csr.columns.insert(csr.columns.end(), row.begin(), row.end());
    csr.offsets.push_back(Index(csr.columns.size()));
  }
  for (Index e = 0; options.weighted && e < csr.arcs(); ++e)
    csr.weights.push_back(float(0.25 + draws.uniform_at(std::uint64_t(e), 3)));
  return csr;
}

}  // namespace atl
