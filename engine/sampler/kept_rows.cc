// Rows of which some arcs are read because their sources were drawn for the whole step (KeptArcs): all arcs are gone over, once to count
// and once to copy. Arcs keep the order of the prepared graph.
#include "sampler/row_draws.h"

namespace atl {
namespace {

constexpr Index kPiece = 256;  // rows that a thread takes at a time

float stands_for(const KeptArcs& kept, VertexId row, VertexId column, Index place) {
  return row == column ? 1.F : kept.stands_for(row, column, place);
}

/// The number of arcs that are kept, and their weight.
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

void RowDraws::kept_heads(const HopDraw& hop, std::span<const VertexId> rows,
                          std::span<RowHead> heads) const {
  const auto count = Index(rows.size());
  pool_.run((count + kPiece - 1) / kPiece, [&](Index piece, int) {
    for (Index i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i) {
      const VertexId row = rows[std::size_t(i)];
      const KeptSize size = kept_size(graph_.whole, *hop.kept, row);
      const double degree = hop.kept->induces_degrees() ? size.degree : graph_.degree(row);
      heads[std::size_t(i)] = {0, std::uint32_t(size.arcs), degree};
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
    const auto scale = float(group.heads[i].degree / kept);
    for (Index e = group.offsets[i]; e < to; ++e) group.weights[e] *= scale;
  }
}

}  // namespace atl
