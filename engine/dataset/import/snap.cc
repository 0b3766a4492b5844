// SNAP's edge lists: a source and a destination id a line, separated by spaces, tabs or a comma, an optional
// weight third; '#' and '%' start comments. Ids may have gaps and be any 64-bit number ≥ 0: they are mapped
// to 0 … n − 1 in ascending order, and the original ones kept. The text is read once; a temporary file holds
// the ids until all are known.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "dataset/import/id_map.h"
#include "dataset/import/importers.h"
#include "dataset/import/snap_lines.h"
#include "dataset/scratch_file.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 1 << 16;

/// Replays the arcs with their new ids.
void add_mapped_arcs(const ScratchFile& file, const IdMap& ids, Index arcs, const std::string& source,
                     DatasetWriter& writer) {
  std::vector<SnapArc> piece(kPiece);
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  for (Index begin = 0; begin < arcs; begin += Index(kPiece)) {
    const Index count = std::min(Index(kPiece), arcs - begin);
    file.read_at(begin * Index(sizeof(SnapArc)), piece.data(), count * Index(sizeof(SnapArc)));
    src.clear();
    dst.clear();
    weights.clear();
    for (const SnapArc& arc : std::span(piece).first(std::size_t(count))) {
      src.push_back(ids.place_of(arc.src));
      dst.push_back(ids.place_of(arc.dst));
      weights.push_back(float(arc.weight));
    }
    writer.add_arcs(src, dst, weights, {source, begin});
  }
}

}  // namespace

void import_snap(const std::filesystem::path& path, const ImportOptions& options, DatasetWriter& writer) {
  ScratchFile arrived(writer.scratch_folder());
  IdCollector collector;
  Index arcs = 0;
  const SnapSummary summary = read_snap_lines(path, options.weights, [&](const SnapArc& arc) {
    arrived.append(&arc, sizeof arc);
    collector.add(arc.src);
    collector.add(arc.dst);
    ++arcs;
  });
  arrived.flush();
  if (arcs == 0) fail("{}: holds no arcs; give a file with two ids per line", path.string());
  if (summary.ignored_columns) writer.report("the third column is not used; add --weights to use it");
  const IdMap ids(collector.take());
  writer.set_vertices(ids.size());
  writer.set_symmetrise(symmetrises(options, summary.says_undirected));
  add_mapped_arcs(arrived, ids, arcs, path.string(), writer);
  if (!ids.is_identity()) {
    writer.set_original_ids(ids.ids());
    writer.add_transform("ids mapped to 0 … vertices − 1 in ascending order");
  }
}

}  // namespace atl
