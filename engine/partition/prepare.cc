// Orders vertices by part, and within a part by slice. In a slice, boundary rows come before the other rows;
// both are in a locality order. So boundary rows can be sent as soon as a layer's first rows are ready, and
// the rows that a layer gathers are often still in cache.
#include "partition/prepare.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "graph/csr.h"
#include "graph/transform.h"
#include "partition/partitioners.h"

namespace atl {
namespace {

/// The transformed graph, or a view of the original if no transform changes it.
struct Transformed {
  CsrView view;
  Csr storage;
  bool is_symmetric;

  void replace(Csr changed) {
    storage = std::move(changed);
    view = storage.view();
  }
};

Transformed apply(const CsrView& graph, bool is_symmetric, const GraphTransforms& transforms) {
  Transformed t{graph, {}, is_symmetric || transforms.symmetrise};
  if (transforms.symmetrise) t.replace(symmetrise(t.view));
  if (transforms.self_loops == GraphTransforms::SelfLoops::kAdd) t.replace(with_self_loops(t.view));
  if (transforms.self_loops == GraphTransforms::SelfLoops::kRemove) t.replace(without_self_loops(t.view));
  return t;
}

/// Returns (vertices) marks of the vertices that a vertex of another part reads.
std::vector<std::uint8_t> boundary_marks(const CsrView& graph, const std::vector<std::int32_t>& cell,
                                         int slices) {
  std::vector<std::uint8_t> marks(cell.size(), 0);
  for (Index r = 0; r < graph.rows; ++r)
    for (const VertexId c : graph.row(r))
      if (cell[std::size_t(c)] / slices != cell[std::size_t(r)] / slices) marks[std::size_t(c)] = 1;
  return marks;
}

/// Counting sort of the locality order by (cell, interior). Fills ids and offsets.
void number_rows(const std::vector<VertexId>& order, const std::vector<std::int32_t>& cell,
                 const PartitionOptions& options, RowOrder& out) {
  const auto key = [&](VertexId v) {
    return 2 * std::size_t(cell[std::size_t(v)]) + (out.boundary[std::size_t(v)] ? 0 : 1);
  };
  const auto slices = std::size_t(options.slices);
  std::vector<Index> begin(2 * slices * std::size_t(options.parts) + 1, 0);
  for (const VertexId v : order) ++begin[key(v) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  for (std::size_t k = 0; k < begin.size(); k += 2) out.slice_offsets.push_back(begin[k]);
  for (std::size_t k = 0; k < begin.size(); k += 2 * slices) out.part_offsets.push_back(begin[k]);
  out.ids.resize(order.size());
  for (const VertexId v : order) out.ids[std::size_t(begin[key(v)]++)] = v;
}

/// Returns (vertices) the prepared row of each vertex.
std::vector<VertexId> rows_of(const std::vector<VertexId>& ids) {
  std::vector<VertexId> row_of(ids.size());
  for (std::size_t r = 0; r < ids.size(); ++r) row_of[std::size_t(ids[r])] = VertexId(r);
  return row_of;
}

/// Renumbers a graph: row r of the result is row ids[r] of `graph`, with columns renumbered and ascending.
Csr renumbered(const CsrView& graph, const std::vector<VertexId>& ids) {
  const std::vector<VertexId> row_of = rows_of(ids);
  Csr out;
  out.rows = out.cols = graph.rows;
  out.offsets.reserve(ids.size() + 1);
  out.columns.reserve(std::size_t(graph.arcs()));
  if (graph.weights != nullptr) out.weights.reserve(std::size_t(graph.arcs()));
  std::vector<std::pair<VertexId, float>> row;
  for (const VertexId v : ids) {
    row.clear();
    for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      row.emplace_back(row_of[std::size_t(graph.columns[e])],
                       graph.weights == nullptr ? 1.f : graph.weights[e]);
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, weight] : row) {
      out.columns.push_back(column);
      if (graph.weights != nullptr) out.weights.push_back(weight);
    }
    out.offsets.push_back(Index(out.columns.size()));
  }
  return out;
}

/// Relies on the rows of `graph`, which has the data set's numbering: their columns ascend already.
RowsById rows_by_id(const CsrView& graph, const std::vector<VertexId>& ids) {
  const std::vector<VertexId> row_of = rows_of(ids);
  RowsById out;
  out.columns.reserve(std::size_t(graph.arcs()));
  if (graph.weights != nullptr) {
    out.weights.reserve(std::size_t(graph.arcs()));
    out.degrees.reserve(ids.size());
  }
  for (const VertexId v : ids) {
    for (const bool loops : {true, false})
      for (Index e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        if ((graph.columns[e] == v) != loops) continue;
        out.columns.push_back(row_of[std::size_t(graph.columns[e])]);
        if (graph.weights != nullptr) out.weights.push_back(graph.weights[e]);
      }
    if (graph.weights != nullptr) out.degrees.push_back(degree_of(graph, v));
  }
  return out;
}

void list_halos(const std::vector<Index>& part_offsets, HaloGraph& out) {
  std::vector<std::int32_t> listed_by(std::size_t(out.graph.rows), -1);
  out.halo_offsets.assign(1, 0);
  for (std::size_t p = 0; p + 1 < part_offsets.size(); ++p) {
    const Index begin = part_offsets[p], end = part_offsets[p + 1];
    for (Index e = out.graph.offsets[std::size_t(begin)]; e < out.graph.offsets[std::size_t(end)]; ++e) {
      const VertexId c = out.graph.columns[std::size_t(e)];
      if ((c >= begin && c < end) || listed_by[std::size_t(c)] == std::int32_t(p)) continue;
      listed_by[std::size_t(c)] = std::int32_t(p);
      out.halo.push_back(c);
    }
    std::sort(out.halo.begin() + out.halo_offsets.back(), out.halo.end());
    out.halo_offsets.push_back(Index(out.halo.size()));
  }
}

PartitionQuality measure(const Prepared& prepared, const std::vector<std::uint8_t>& boundary,
                         std::span<const std::uint8_t> training) {
  PartitionQuality q;
  const CsrView graph = prepared.whole.graph.view();
  q.volume = Index(prepared.whole.halo.size());
  for (std::size_t p = 0; p + 1 < prepared.part_offsets.size(); ++p) {
    const Index begin = prepared.part_offsets[p], end = prepared.part_offsets[p + 1];
    Index boundary_rows = 0, training_rows = 0;
    for (Index r = begin; r < end; ++r) {
      const auto vertex = std::size_t(prepared.ids[std::size_t(r)]);
      boundary_rows += boundary[vertex];
      training_rows += !training.empty() && training[vertex] != 0;
      for (const VertexId c : graph.row(r)) q.cut_arcs += c < begin || c >= end;
    }
    q.owned.push_back(end - begin);
    q.arcs.push_back(graph.offsets[end] - graph.offsets[begin]);
    q.halo.push_back(prepared.whole.halo_offsets[p + 1] - prepared.whole.halo_offsets[p]);
    q.boundary.push_back(boundary_rows);
    q.training.push_back(training_rows);
  }
  q.set_balances();
  return q;
}

std::vector<std::int32_t> cells_of(const CsrView& graph, const CsrView& pattern,
                                   const PartitionOptions& options, std::span<const std::uint8_t> training) {
  std::vector<VertexId> degrees;
  for (Index r = 0; r < graph.rows; ++r) degrees.push_back(VertexId(graph.degree(r)));
  PartitionOptions cells = options;
  if (options.groups > 1) {
    ATOLL_CHECK(options.slices == 1 && options.parts % options.groups == 0, "{} groups of {} parts",
                options.groups, options.parts);
    cells.parts = options.groups, cells.slices = options.parts / options.groups;
  }
  return assign_cells({pattern, degrees, training}, cells);
}

}  // namespace

RowOrder order_rows(const CsrView& graph, bool is_symmetric, const PartitionOptions& options,
                    std::span<const std::uint8_t> training) {
  const Csr pattern = neighbour_pattern(graph, is_symmetric);
  const auto cell = cells_of(graph, pattern.view(), options, training);
  RowOrder out;
  out.boundary = boundary_marks(graph, cell, options.slices);
  number_rows(locality_order(pattern.view(), cell), cell, options, out);
  return out;
}

void check_parts(const PartitionOptions& options, Index vertices) {
  if (options.parts < 1 || options.parts > vertices)
    fail("{} parts for {} vertices (use at most one part per vertex)", options.parts, vertices);
  if (Index(options.parts) * options.slices > vertices)
    fail("{} parts of {} slices for {} vertices (use at most one slice per vertex)", options.parts,
         options.slices, vertices);
}

Prepared prepare(const CsrView& graph, bool is_symmetric, const PartitionOptions& options,
                 const GraphTransforms& transforms, std::span<const std::uint8_t> training) {
  check_parts(options, graph.rows);
  const Transformed transformed = apply(graph, is_symmetric, transforms);
  Prepared out;
  RowOrder order = order_rows(transformed.view, transformed.is_symmetric, options, training);
  out.part_offsets = std::move(order.part_offsets);
  out.slice_offsets = std::move(order.slice_offsets);
  out.ids = std::move(order.ids);
  out.whole.graph = renumbered(transformed.view, out.ids);
  if (transforms.by_id) out.whole.by_id = rows_by_id(transformed.view, out.ids);
  list_halos(out.part_offsets, out.whole);
  out.quality = measure(out, order.boundary, training);
  if (transforms.induced) {
    const Csr induced = induced_subgraph(transformed.view, training);
    out.induced.graph = renumbered(induced.view(), out.ids);
    if (transforms.by_id) out.induced.by_id = rows_by_id(induced.view(), out.ids);
    list_halos(out.part_offsets, out.induced);
  }
  return out;
}

Index predicted_prepare_bytes(Index vertices, Index arcs, const PartitionOptions& options,
                              const GraphTransforms& transforms) {
  const Index after = transforms.symmetrise ? 2 * arcs : arcs;
  const Index transformed = 4 * after + 8 * vertices, pattern = 4 * 2 * arcs + 8 * vertices;
  // METIS: its copies of the graph and the coarser graphs, weights of arcs and three weights per vertex.
  // Measured on a random graph, whose coarser graphs shrink least.
  const Index metis =
      options.kind == "metis" && options.parts * options.slices > 1 ? 44 * 2 * arcs + 120 * vertices : 0;
  const Index order = 8 * 2 * arcs + 72 * vertices;
  // Allocated after pattern and order are freed: the graph and its rows by id, both weighted in the worst
  // case.
  const Index both = transforms.by_id ? 2 * 8 * (after + vertices) + 20 * vertices : 0;
  return transformed + std::max(pattern + std::max(metis, order), both);
}

namespace {

Index sum(const std::vector<Index>& values) {
  return std::accumulate(values.begin(), values.end(), Index(0));
}

/// Returns the largest value over the mean; 1 if all values are 0.
double balance(const std::vector<Index>& values) {
  const Index total = sum(values);
  if (total == 0) return 1;
  return double(*std::max_element(values.begin(), values.end())) * double(values.size()) / double(total);
}

double share(Index part, Index whole) {
  return whole == 0 ? 0 : double(part) / double(whole);
}

}  // namespace

void PartitionQuality::set_balances() {
  balance_vertices = balance(owned);
  balance_arcs = balance(arcs);
  balance_training = balance(training);
}

std::string to_text(const PartitionQuality& q) {
  std::string text =
      fmt::format("{}: {} rows exchanged per layer ({:.3f} per vertex), {} arcs cut ({:.1f} %)\n",
                  counted_text(std::int64_t(q.owned.size()), "part"), q.volume, share(q.volume, sum(q.owned)),
                  q.cut_arcs, 100 * share(q.cut_arcs, sum(q.arcs)));
  text += fmt::format("largest part / mean: vertices {:.3f}, arcs {:.3f}, training vertices {:.3f}\n",
                      q.balance_vertices, q.balance_arcs, q.balance_training);
  text += fmt::format("{:>5} {:>12} {:>12} {:>12} {:>11} {:>14} {:>12}\n", "part", "vertices", "boundary",
                      "halo", "halo ratio", "arcs", "training");
  for (std::size_t p = 0; p < q.owned.size(); ++p)
    text += fmt::format("{:>5} {:>12} {:>12} {:>12} {:>11.3f} {:>14} {:>12}\n", p, q.owned[p], q.boundary[p],
                        q.halo[p], share(q.halo[p], q.owned[p]), q.arcs[p], q.training[p]);
  return text;
}

}  // namespace atl
