// Every rank reads the whole prepared graph: pages that it touches are in memory once a server, and are dropped when memory is
// short.
#include "sampler/structure.h"

namespace atl {
namespace {

class MappedStructure final : public Structure {
 public:
  MappedStructure(const DrawnGraph& graph, ThreadPool& pool) : draws_(graph, pool) {}

  bool weighted() const override { return draws_.weighted(); }

  void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) override {
    draws_.heads(hop, rows, out.heads.take(Index(rows.size())));
    out.lay_out(hop, weighted() || hop.weighs());
    draws_.arcs(hop, rows, out.heads.span(), out.offsets.span(), out.columns.span(), out.weights.span());
  }

  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees) override {
    draws_.describe(hop, rows, ids, degrees);
  }

  Index growths() const override { return 0; }

 private:
  RowDraws draws_;
};

}  // namespace

void DrawnArcs::lay_out(const HopDraw& hop, bool weighted) {
  const Index rows = heads.size();
  offsets.take(rows + 1);
  offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) offsets[i + 1] = offsets[i] + heads[i].arcs(hop);
  columns.take(offsets[rows]);
  weights.take(weighted ? offsets[rows] : 0);
}

Index DrawnArcs::growths() const {
  return heads.growths() + offsets.growths() + columns.growths() + weights.growths();
}

DrawnGraph drawn_graph(const PreparedGraph& graph, bool induced, bool by_id) {
  DrawnGraph drawn{induced ? graph.induced_graph() : graph.graph(), {}, graph.ids()};
  if (by_id) drawn.by_id = induced ? graph.induced_graph_by_id() : graph.graph_by_id();
  return drawn;
}

std::unique_ptr<Structure> mapped_structure(const DrawnGraph& graph, ThreadPool& pool) {
  return std::make_unique<MappedStructure>(graph, pool);
}

}  // namespace atl
