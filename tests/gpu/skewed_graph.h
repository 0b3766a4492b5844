// Graphs for benchmarks of a GPU's kernels: as large as real ones, with degrees as uneven.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// A symmetric graph whose degrees follow a power law: a few vertices have thousands of times the mean.
struct Graph {
  std::string name;
  Index vertices = 0;
  std::vector<Index> offsets;
  std::vector<VertexId> columns;
  std::vector<Index> reversed;  // (arcs) the number of each arc's reverse: the graph is its own transpose

  Index arcs() const { return Index(columns.size()); }
  Index most() const {
    Index most = 0;
    for (Index v = 0; v < vertices; ++v)
      most = std::max(most, offsets[std::size_t(v) + 1] - offsets[std::size_t(v)]);
    return most;
  }
};

inline Graph skewed_graph(const std::string& name, Index vertices, Index arcs, double skew,
                          bool with_reversed = false) {
  Graph g{name, vertices, std::vector<Index>(std::size_t(vertices) + 1),
          std::vector<VertexId>(std::size_t(arcs))};
  const Draws draws(7, Purpose::kGenerator);
  const auto end_of = [&](Index edge, Index which) {  // scattered, so that hubs aren't neighbours
    const double u = draws.uniform_at(std::uint64_t(edge), std::uint64_t(which));
    const auto rank = std::uint64_t(double(vertices) * std::pow(u, skew));
    return VertexId(rank * 2654435761ull % std::uint64_t(vertices));
  };
  std::vector<VertexId> ends(std::size_t(arcs) / 2 * 2);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = end_of(Index(i / 2), Index(i % 2));
  for (VertexId v : ends) ++g.offsets[std::size_t(v) + 1];
  for (std::size_t v = 0; v < std::size_t(vertices); ++v) g.offsets[v + 1] += g.offsets[v];
  std::vector<Index> next(g.offsets.begin(), g.offsets.end() - 1);
  g.columns.resize(ends.size());
  if (with_reversed) g.reversed.resize(ends.size());
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    const Index there = next[std::size_t(ends[i])]++, back = next[std::size_t(ends[i + 1])]++;
    g.columns[std::size_t(there)] = ends[i + 1], g.columns[std::size_t(back)] = ends[i];
    if (with_reversed) g.reversed[std::size_t(there)] = back, g.reversed[std::size_t(back)] = there;
  }
  return g;
}

}  // namespace atl
