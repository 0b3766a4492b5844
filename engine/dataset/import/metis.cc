// METIS' graph files: a header with the numbers of vertices and edges, then a line for each vertex with its neighbours,
// counted from 1. Vertex sizes and weights are left out; edge weights are kept where asked for. Edges have no direction
// and stand in both lines.
#include <vector>

#include "base/error.h"
#include "dataset/import/importers.h"
#include "dataset/import/metis_lines.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 1 << 16;

/// Hands arcs on, some at a time.
class Arcs {
 public:
  Arcs(const std::filesystem::path& path, DatasetWriter& writer) : origin_{path.string()}, writer_(writer) {}

  void add(const MetisArc& arc) {
    src_.push_back(arc.vertex);
    dst_.push_back(arc.neighbour);
    weights_.push_back(float(arc.weight));
    if (src_.size() == kPiece) hand_over();
  }
  void hand_over() {
    writer_.add_arcs(src_, dst_, weights_, origin_);
    src_.clear();
    dst_.clear();
    weights_.clear();
  }

 private:
  RowOrigin origin_;
  DatasetWriter& writer_;
  std::vector<VertexId> src_, dst_;
  std::vector<float> weights_;
};

}  // namespace

void import_metis(const std::filesystem::path& path, const ImportOptions& options, DatasetWriter& writer) {
  Arcs arcs(path, writer);
  bool begun = false;
  const MetisHeader header = read_metis(path, [&](const MetisHeader& h, const MetisArc& arc) {
    if (!begun) writer.set_vertices(h.vertices);
    begun = true;
    arcs.add(arc);
  });
  if (!begun) fail("{}: holds no edges; a graph needs at least one", path.string());
  arcs.hand_over();
  if (options.weights && !header.edge_weights)
    fail("{}: its edges have no weights, as the header says; leave out --weights", path.string());
  if (header.edge_weights && !options.weights)
    writer.report("edge weights are dropped; add --weights to keep them");
  if (header.sizes || header.vertex_weights > 0)
    writer.report("vertices' sizes and weights are not used: they are for partitioners");
  writer.set_symmetrise(symmetrises(options, false));
}

}  // namespace atl
