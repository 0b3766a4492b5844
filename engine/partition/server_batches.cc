// Cooperative batching (Song et al. 2024, "GraNNDis", section 4.4): divides a server's own vertices.
#include "partition/server_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/transform.h"

namespace atl {
namespace {

/// The server's own vertices as rows of the prepared graph, in the order of the data set's ids, so that it
/// doesn't matter how they are divided among ranks.
std::vector<VertexId> own_rows(const PreparedGraph& prepared, const ServerOptions& options) {
  const auto first = prepared.part_offsets()[std::size_t(options.first_part)],
             end = prepared.part_offsets()[std::size_t(options.first_part) + std::size_t(options.parts)];
  std::vector<VertexId> rows;
  for (Index row = first; row < end; ++row) {
    const VertexId id = prepared.ids()[std::size_t(row)];
    if (options.induced_on.empty() || options.induced_on[id]) rows.push_back(VertexId(row));
  }
  std::ranges::sort(rows, {}, [&](VertexId row) { return prepared.ids()[std::size_t(row)]; });
  return rows;
}

/// The arcs between `rows`, whose ends are numbered by their places in `rows`.
Csr arcs_among(const CsrView& graph, std::span<const VertexId> rows) {
  const auto [first, last] = std::ranges::minmax_element(rows);
  const VertexId begin_row = rows.empty() ? 0 : *first, end_row = rows.empty() ? 0 : *last + 1;
  // The array is short, because a server's rows are contiguous.
  std::vector<VertexId> place(std::size_t(end_row - begin_row), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) place[std::size_t(rows[i] - begin_row)] = VertexId(i);
  const auto place_of = [&](VertexId row) {
    return row < begin_row || row >= end_row ? -1 : place[std::size_t(row - begin_row)];
  };
  Csr among;
  among.rows = among.cols = Index(rows.size());
  for (const VertexId row : rows) {
    const auto begin = std::ptrdiff_t(among.columns.size());
    for (const VertexId other : graph.row(row))
      if (const VertexId there = place_of(other); there >= 0) among.columns.push_back(there);
    std::sort(among.columns.begin() + begin, among.columns.end());
    among.offsets.push_back(among.arcs());
  }
  return among;
}

}  // namespace

std::string too_many_batches(const std::string& strategy, Index batches, Index most) {
  return fmt::format(
      "strategy.{}.batches: {} is more than the {} labelled training vertices of the server with most (use at most {})",
      strategy, batches, most, most);
}

std::vector<std::vector<VertexId>> server_batches(const PreparedGraph& prepared, const ServerOptions& options,
                                                  const VertexMarks& trains, int batches) {
  const std::vector<VertexId> rows = own_rows(prepared, options);
  const CsrView graph = options.induced_on.empty() ? prepared.graph() : prepared.induced_graph();
  const Csr pattern = neighbour_pattern(arcs_among(graph, rows).view(), false);
  const auto counts = [&](VertexId row) { return trains[prepared.ids()[std::size_t(row)]]; };
  const Index training = std::ranges::count_if(rows, counts);
  std::vector<std::vector<VertexId>> all;
  all.resize(std::size_t(batches));
  Index seen = 0;  // training vertices so far, or all vertices so far if none trains
  const Index shared = training > 0 ? training : Index(rows.size());
  for (const VertexId i : locality_order(pattern.view(), {})) {
    const VertexId row = rows[std::size_t(i)];
    all[std::size_t(std::min(seen, shared - 1) * batches / shared)].push_back(row);
    if (training == 0 || counts(row)) ++seen;
  }
  return all;
}

std::vector<ServerGraph> server_graphs(const PreparedGraph& prepared, const ServerOptions& options,
                                       const VertexMarks& trains) {
  std::vector<ServerGraph> all;
  if (options.batches == 1) {
    all.push_back(server_graph(prepared, options));
    return all;
  }
  ServerOptions of_batch = options;
  for (const std::vector<VertexId>& batch : server_batches(prepared, options, trains, options.batches)) {
    of_batch.batch = batch;
    all.push_back(server_graph(prepared, of_batch));
  }
  return all;
}

}  // namespace atl
