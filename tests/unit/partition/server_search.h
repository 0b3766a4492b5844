// What a server holds under GraNNDis' expansion-aware sampling (Song et al. 2024, section 4.3), by a plain
// search of the data set's arcs in the data set's numbering. Tests compare server_graph(), and training on
// it, with this search, which shares nothing with it but the keys of draws.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "dataset/dataset.h"

namespace atl {

/// By vertex: the vertices that it reads, with their arcs' weights.
using ArcsById = std::map<VertexId, std::map<VertexId, float>>;

/// The data set's arcs, none of them twice; with `loops`, a loop of weight 1 at each vertex that has none.
inline ArcsById arcs_by_id(const Dataset& data, bool loops) {
  ArcsById arcs;
  const CsrView graph = data.graph();
  for (Index row = 0; row < graph.rows; ++row) {
    std::map<VertexId, float>& reads = arcs[VertexId(row)];
    for (Index e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e)
      reads[graph.columns[e]] = graph.weights == nullptr ? 1.F : graph.weights[e];
    if (loops) reads.emplace(VertexId(row), 1.F);
  }
  return arcs;
}

/// Arcs between marked vertices.
inline ArcsById arcs_among(const ArcsById& all, const std::vector<std::uint8_t>& marks) {
  ArcsById some;
  for (const auto& [row, reads] : all)
    for (const auto& [other, weight] : reads)
      if (marks[std::size_t(row)] != 0 && marks[std::size_t(other)] != 0) some[row][other] = weight;
  return some;
}

struct SearchOptions {
  int hops = 1;     // m: how far copies are from the server's own vertices
  int fanout = -1;  // k: copies per vertex; −1: all
  std::uint64_t seed = 1, epoch = 0;
};

struct HeldByServer {
  std::set<VertexId> own, all;       // all: with copies
  ArcsById arcs;                     // the subgraph on `all`
  std::map<VertexId, int> distance;  // in the subgraph, from the nearest own vertex that leads there

  double degree(VertexId v) const {
    double sum = 0;
    if (arcs.contains(v))
      for (const auto& [other, weight] : arcs.at(v)) sum += weight;
    return sum;
  }
};

/// Of a vertex's neighbours outside the server, those that a draw takes: the k with the smallest keys.
inline std::vector<VertexId> drawn_neighbours(const ArcsById& arcs, const std::set<VertexId>& own, VertexId v,
                                              const SearchOptions& options) {
  std::vector<std::pair<std::uint64_t, VertexId>> outside;
  const Draws draws(options.seed, Purpose::kExpansion, options.epoch);
  if (arcs.contains(v))
    for (const auto& [other, weight] : arcs.at(v))
      if (other != v && !own.contains(other))  // its loop leads nowhere
        outside.emplace_back(draws.bits64_at(std::uint64_t(v), std::uint64_t(other)), other);
  std::ranges::sort(outside);
  if (options.fanout >= 0 && outside.size() > std::size_t(options.fanout))
    outside.resize(std::size_t(options.fanout));
  std::vector<VertexId> drawn;
  for (const auto& [key, other] : outside) drawn.push_back(other);
  return drawn;
}

/// Goes hop by hop: each vertex that the last hop added draws its neighbours. Then takes all arcs between the
/// vertices found, whoever drew them.
inline HeldByServer search_server(const ArcsById& arcs, const std::set<VertexId>& own,
                                  const SearchOptions& options) {
  HeldByServer held{own, own, {}, {}};
  std::set<VertexId> last = own;
  for (int hop = 0; hop < options.hops; ++hop) {
    std::set<VertexId> asked;
    for (const VertexId v : last)
      for (const VertexId other : drawn_neighbours(arcs, own, v, options))
        if (!held.all.contains(other)) asked.insert(other);
    held.all.insert(asked.begin(), asked.end());
    last = asked;
  }
  for (const VertexId v : held.all)
    if (arcs.contains(v))
      for (const auto& [other, weight] : arcs.at(v))
        if (held.all.contains(other)) held.arcs[v][other] = weight;
  for (const VertexId v : own) held.distance[v] = 0;
  for (bool further = true; further;) {  // until no arc shortens a path
    further = false;
    for (const auto& [v, reads] : held.arcs)
      for (const auto& [other, weight] : reads) {
        if (!held.distance.contains(v)) continue;
        const int along = held.distance[v] + 1;
        if (held.distance.contains(other) && held.distance[other] <= along) continue;
        held.distance[other] = along, further = true;
      }
  }
  return held;
}

}  // namespace atl
