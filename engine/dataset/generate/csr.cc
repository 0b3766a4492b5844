// Both directions of every drawn edge as compressed rows, by counting sort. Threads fill a row in any order;
// sorting the row forgets which.
#include <algorithm>
#include <atomic>
#include <vector>

#include "dataset/generate/edges.h"

namespace atl {
namespace {

struct DrawnEdges {
  const Edges& edges;
  const Line& line;
  const Shuffle& shuffle;
  ThreadPool& threads;
  std::vector<VertexId> ends;  // (edges.count())

  /// visit(u, v), final ids, for each edge that was found.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for_vertices(0, VertexId(line.vertices()), threads, [&](VertexId u, int) {
      const VertexId id = shuffle(u);
      for (Index e = edges.first(u), last = edges.first(u + 1); e < last; ++e) {
        if (ends[std::size_t(e)] != kNoVertex) visit(id, ends[std::size_t(e)]);
      }
    });
  }
};

/// offsets[row] = the row's end, which put() will count down to its start.
void count_rows(const DrawnEdges& drawn, std::vector<Index>& offsets) {
  auto count = [&](VertexId row) {
    std::atomic_ref(offsets[std::size_t(row)]).fetch_add(1, std::memory_order_relaxed);
  };
  drawn.for_each([&](VertexId u, VertexId v) { count(u), count(v); });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
}

}  // namespace

Csr symmetric_csr(const Edges& edges, const Line& line, const Shuffle& shuffle, ThreadPool& threads) {
  const auto n = VertexId(line.vertices());
  DrawnEdges drawn{edges, line, shuffle, threads, std::vector<VertexId>(std::size_t(edges.count()))};
  edges.draw(0, n, threads, drawn.ends);
  Csr csr;
  csr.rows = csr.cols = n;
  csr.offsets.assign(std::size_t(n) + 1, 0);
  count_rows(drawn, csr.offsets);
  csr.columns.resize(std::size_t(csr.offsets.back()));
  auto put = [&](VertexId row, VertexId column) {
    const Index at =
        std::atomic_ref(csr.offsets[std::size_t(row)]).fetch_sub(1, std::memory_order_relaxed) - 1;
    csr.columns[std::size_t(at)] = column;
  };
  drawn.for_each([&](VertexId u, VertexId v) { put(u, v), put(v, u); });
  for_vertices(0, n, threads, [&](VertexId row, int) {
    const auto begin = csr.columns.begin();
    std::sort(begin + csr.offsets[std::size_t(row)], begin + csr.offsets[std::size_t(row) + 1]);
  });
  return csr;
}

}  // namespace atl
