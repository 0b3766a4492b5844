// GraphSAINT's folders (Zeng et al. 2020): adj_full.npz (SciPy CSR; row = source), class_map.json
// (vertex → class, or → list of 0 and 1), role.json (tr, va, te: lists of vertices), feats.npy. Both JSON files may be
// gzipped. adj_train.npz is the same graph's training part and not needed. Features are raw: GraphSAINT standardises
// them on the training rows, FeatureScaling::kTraining.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "dataset/format/text.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/graphsaint_json.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kPieceArcs = 1 << 18;

fs::path required(const fs::path& path) {
  const fs::path found = find_text_file(path);
  if (found.empty())
    fail("{}: does not exist; give a folder with adj_full.npz, class_map.json, role.json", path.string());
  return found;
}

NpzCsr read_adjacency(const fs::path& path, const DatasetWriter& writer) {
  NpzCsr adjacency = read_csr_npz(path, writer.scratch_folder());
  if (adjacency.rows != adjacency.cols) {
    fail("{}: is {} × {}; the matrix must be square", path.string(), adjacency.rows, adjacency.cols);
  }
  return adjacency;
}

/// Some rows at a time, of about kPieceArcs arcs.
void add_arcs(const NpzCsr& adjacency, const fs::path& path, bool weights, DatasetWriter& writer) {
  const Index degree = adjacency.columns.rows() / std::max<Index>(1, adjacency.rows);
  const Index rows_a_piece = std::max<Index>(1, kPieceArcs / std::max<Index>(1, degree));
  std::vector<VertexId> src;
  Index arcs = 0;
  for (Index begin = 0; begin < adjacency.rows; begin += rows_a_piece) {
    const Csr rows = csr_rows(adjacency, begin, std::min(rows_a_piece, adjacency.rows - begin));
    src.clear();
    for (Index r = 0; r < rows.rows; ++r) {
      src.insert(src.end(), std::size_t(rows.offsets[std::size_t(r) + 1] - rows.offsets[std::size_t(r)]),
                 VertexId(begin + r));
    }
    const std::span<const float> values =
        weights ? std::span<const float>(rows.weights) : std::span<const float>();
    writer.add_arcs(src, rows.columns, values, {path.string() + ": indices and data", arcs});
    arcs += rows.arcs();
  }
}

void add_classes(const fs::path& path, Index vertices, DatasetWriter& writer) {
  const GraphSaintClasses classes = read_class_map(path, vertices);
  if (classes.classes == 0) return writer.set_labels(classes.labels, 0, {path.string()});
  writer.set_flags({classes.targets.data(), vertices, classes.classes}, {path.string()});
}

}  // namespace

void import_graphsaint(const fs::path& folder, const ImportOptions& options, DatasetWriter& writer) {
  const fs::path classes = required(folder / "class_map.json"), roles = required(folder / "role.json");
  Index vertices = 0;
  {
    const fs::path path = folder / "adj_full.npz";
    const NpzCsr adjacency = read_adjacency(path, writer);
    vertices = adjacency.rows;
    writer.set_vertices(vertices);
    add_arcs(adjacency, path, options.weights, writer);
  }
  writer.set_symmetrise(symmetrises(options, false));
  if (fs::exists(folder / "feats.npy")) {
    const NpyArray features = NpyArray::open(folder / "feats.npy");
    expect_a_row_each(features, vertices);
    add_feature_rows(features, writer);
  }
  add_classes(classes, vertices, writer);
  writer.add_split("default", read_roles(roles, vertices).view(), roles.string());
}

}  // namespace atl
