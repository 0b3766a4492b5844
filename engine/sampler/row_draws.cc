// Draws neighbours of rows whose arcs this process can read.
#include "sampler/structure.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "graph/csr.h"

namespace atl {
namespace {

constexpr Index kChunk = 2048;  // rows that a thread takes at a time
constexpr Index kAhead = 16;    // rows that are prefetched ahead
constexpr Index kGroup = 32;    // rows whose neighbours are prefetched together

void prefetch(const void* address) {
  __builtin_prefetch(address);
}

}  // namespace

double DrawnGraph::degree(VertexId row) const {
  if (whole.weights == nullptr || by_id.degrees.empty()) return degree_of(whole, row);
  return by_id.degrees[std::size_t(row)];
}

RowDraws::RowDraws(const DrawnGraph& graph, ThreadPool& pool)
    : graph_(graph), pool_(pool), scratch_(std::size_t(pool.threads())) {}

void RowDraws::count_neighbours(const HopDraw& hop, std::span<const VertexId> rows,
                                std::span<NeighbourCounts> neighbours) {
  if (hop.kept != nullptr) return count_kept(hop, rows, neighbours);
  const bool all = hop.fanout == kAllNeighbours;
  const CsrView& graph = all ? graph_.whole : graph_.by_id.rows;
  ATOLL_CHECK(graph.columns != nullptr || graph.arcs() == 0, "the graph was prepared without rows by id");
  const auto count = Index(rows.size());
  const auto count_row = [&](Index i) {
    const VertexId row = rows[std::size_t(i)];
    const Index begin = graph.offsets[row], end = graph.offsets[row + 1];
    Index first = begin;
    while (!all && first < end && graph.columns[first] == row) ++first;
    neighbours[std::size_t(i)] = {std::uint32_t(first - begin), std::uint32_t(end - first),
                                  graph_.degree(row)};
  };
  pool_.run((count + kChunk - 1) / kChunk, [&](Index chunk, int) {
    const Index begin = chunk * kChunk, end = std::min(count, begin + kChunk);
    for (Index i = begin; i < end; ++i) {
      if (i + 2 * kAhead < end) prefetch(&graph.offsets[rows[std::size_t(i + 2 * kAhead)]]);
      if (!all && i + kAhead < end) prefetch(&graph.columns[graph.offsets[rows[std::size_t(i + kAhead)]]]);
      count_row(i);
    }
  });
}

void RowDraws::describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                        std::optional<std::span<double>> degrees) {
  const auto count = Index(rows.size());
  pool_.run((count + kChunk - 1) / kChunk, [&](Index chunk, int) {
    const Index begin = chunk * kChunk, end = std::min(count, begin + kChunk);
    for (Index i = begin; i < end; ++i) {
      if (i + kAhead < end) {
        const VertexId coming = rows[std::size_t(i + kAhead)];
        prefetch(&graph_.ids[std::size_t(coming)]);
        if (degrees) prefetch(&graph_.whole.offsets[coming]);
      }
      ids[std::size_t(i)] = graph_.ids[std::size_t(rows[std::size_t(i)])];
      if (degrees) (*degrees)[std::size_t(i)] = degree(hop, rows[std::size_t(i)]);
    }
  });
}

void RowDraws::arcs(const HopDraw& hop, std::span<const VertexId> rows,
                    std::span<const NeighbourCounts> neighbours, std::span<const Index> offsets,
                    std::span<VertexId> columns, std::span<float> weights) {
  const auto count = Index(rows.size());
  pool_.run((count + kChunk - 1) / kChunk, [&](Index chunk, int thread) {
    const Index end = std::min(count, (chunk + 1) * kChunk);
    for (Index i = chunk * kChunk; i < end; i += kGroup) {
      for (Index next = i + kGroup; next < std::min(end, i + 2 * kGroup); ++next) {
        prefetch(&graph_.whole.offsets[rows[std::size_t(next)]]);
        prefetch(&graph_.ids[std::size_t(rows[std::size_t(next)])]);
      }
      const Group group{rows.data() + i,    neighbours.data() + i,
                        offsets.data() + i, std::min(kGroup, end - i),
                        columns.data(),     weights.empty() ? nullptr : weights.data()};
      if (hop.kept != nullptr)
        keep_group(hop, group);
      else
        draw_group(hop, group, scratch_[std::size_t(thread)]);
    }
  });
}

/// Writes the positions where the columns will be, then replaces them by the columns.
void RowDraws::draw_group(const HopDraw& hop, const Group& group, NeighbourDraws::Scratch& scratch) const {
  const CsrView& graph = hop.fanout == kAllNeighbours ? graph_.whole : graph_.by_id.rows;
  for (Index i = 0; i < group.count; ++i) {
    const NeighbourCounts& neighbours = group.neighbours[i];
    const VertexId row = group.rows[i];
    const VertexId* const from = graph.columns + graph.offsets[row] + neighbours.loops;
    prefetch(from);
    if (neighbours.whole(hop) || neighbours.others == 0) continue;
    const std::uint64_t key = hop.draws.row_key(std::uint64_t(graph_.ids[std::size_t(row)]));
    const std::span<VertexId> drawn{group.columns + group.offsets[i] + neighbours.loops,
                                    std::size_t(neighbours.drawn(hop))};
    if (hop.by_owner != nullptr)
      hop.by_owner->draw(key, row, neighbours.others, hop.replace, drawn, scratch);
    else
      hop.replace ? PositionDraws::with_replacement(key, neighbours.others, drawn)
                  : scratch.own.without_replacement(key, neighbours.others, drawn);
    for (const VertexId position : drawn) prefetch(from + position);
  }
  for (Index i = 0; i < group.count; ++i) {
    const NeighbourCounts& neighbours = group.neighbours[i];
    const Index first = graph.offsets[group.rows[i]], to = group.offsets[i];
    const Index together = neighbours.whole(hop) ? neighbours.arcs(hop) : neighbours.loops;
    std::copy_n(graph.columns + first, together, group.columns + to);
    if (group.weights != nullptr) std::copy_n(graph.weights + first, together, group.weights + to);
    for (Index e = to + together; e < group.offsets[i + 1]; ++e) {
      const Index at = first + neighbours.loops + group.columns[e];
      group.columns[e] = graph.columns[at];
      if (group.weights != nullptr) group.weights[e] = graph.weights[at];
    }
  }
}

void check_fanout(std::span<const int> fanout, int layers, const std::string& field) {
  if (fanout.size() != std::size_t(layers))
    fail("{}: has {} for {} that gather neighbours; give one per layer, the layer nearest to the input first",
         field, counted_text(std::int64_t(fanout.size()), "number"), counted_text(layers, "layer"));
  for (std::size_t layer = 0; layer < fanout.size(); ++layer)
    if (fanout[layer] < 1 && fanout[layer] != kAllNeighbours)
      fail("{}[{}]: {} is not allowed (use 1 or more, or -1 for all neighbours)", field, layer,
           fanout[layer]);
}

// Rows that read only some arcs, because their sources were drawn for the whole step (KeptArcs). Two passes
// over all arcs count and then copy. Arcs keep the order of the prepared graph.

namespace {

constexpr Index kPiece = 256;  // rows that a thread takes at a time

float stands_for(const KeptArcs& kept, VertexId row, VertexId column, Index place) {
  return row == column ? 1.F : kept.stands_for(row, column, place);
}

/// The number of kept arcs, and the sum of their weights.
struct KeptSize {
  Index arcs = 0;
  double degree = 0;
};

KeptSize kept_size(const CsrView& graph, const KeptArcs& kept, VertexId row) {
  KeptSize size;
  const Index first = graph.offsets[row];
  for (Index e = first; e < graph.offsets[row + 1]; ++e) {
    if (graph.columns[e] != row && !kept.keeps(row, graph.columns[e], e - first)) continue;
    ++size.arcs;
    size.degree += graph.weights == nullptr ? 1 : double(graph.weights[e]);
  }
  return size;
}

}  // namespace

double RowDraws::degree(const HopDraw& hop, VertexId row) const {
  const bool induced = hop.kept != nullptr && hop.kept->induces_degrees();
  return induced ? kept_size(graph_.whole, *hop.kept, row).degree : graph_.degree(row);
}

void RowDraws::count_kept(const HopDraw& hop, std::span<const VertexId> rows,
                          std::span<NeighbourCounts> neighbours) const {
  const auto count = Index(rows.size());
  pool_.run((count + kPiece - 1) / kPiece, [&](Index piece, int) {
    for (Index i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i) {
      const VertexId row = rows[std::size_t(i)];
      const KeptSize size = kept_size(graph_.whole, *hop.kept, row);
      const double degree = hop.kept->induces_degrees() ? size.degree : graph_.degree(row);
      neighbours[std::size_t(i)] = {0, std::uint32_t(size.arcs), degree};
    }
  });
}

void RowDraws::keep_group(const HopDraw& hop, const Group& group) const {
  const CsrView& graph = graph_.whole;
  for (Index i = 0; i < group.count; ++i) {
    const VertexId row = group.rows[i];
    const Index first = graph.offsets[row];
    Index to = group.offsets[i];
    double kept = 0;  // the sum of weights
    for (Index e = first; e < graph.offsets[row + 1]; ++e) {
      const float factor = stands_for(*hop.kept, row, graph.columns[e], e - first);
      if (factor == 0) continue;
      group.columns[to] = graph.columns[e];
      if (group.weights != nullptr) {
        const float own = graph.weights == nullptr ? 1.F : graph.weights[e];
        group.weights[to] = hop.weighs() ? own * factor : own;
        kept += double(group.weights[to]);
      }
      ++to;
    }
    if (!hop.weighs() || !hop.kept->keeps_sums() || kept <= 0) continue;
    const auto scale = float(group.neighbours[i].degree / kept);
    for (Index e = group.offsets[i]; e < to; ++e) group.weights[e] *= scale;
  }
}

}  // namespace atl
