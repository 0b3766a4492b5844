// MatrixMarket coordinate files: entry (row, column[, value]), ids from 1. Row = source, column = destination, as in a
// line of an edge list. A symmetric file stores one triangle.
#include <vector>

#include "base/error.h"
#include "dataset/import/importers.h"
#include "dataset/import/matrixmarket_lines.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 1 << 16;

}  // namespace

void import_matrixmarket(const std::filesystem::path& path, const ImportOptions& options,
                         DatasetWriter& writer) {
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  const auto hand_over = [&](const MatrixMarketHeader&) {
    writer.add_arcs(src, dst, weights, {path.string()});
    src.clear();
    dst.clear();
    weights.clear();
  };
  bool begun = false;
  const MatrixMarketHeader header =
      read_matrixmarket(path, options.weights, [&](const MatrixMarketHeader& h, const MatrixEntry& entry) {
        if (!begun) writer.set_vertices(h.size);
        begun = true;
        src.push_back(entry.row);
        dst.push_back(entry.column);
        weights.push_back(float(entry.value));
        if (src.size() == kPiece) hand_over(h);
      });
  if (!begun) fail("{}: holds no entries; a graph needs at least one arc", path.string());
  hand_over(header);
  writer.set_symmetrise(symmetrises(options, header.symmetric));
  if (header.symmetric && options.symmetrise == ImportOptions::Choice::kNo) {
    writer.report(
        "the file is symmetric and stores one triangle: with --no-symmetrise half of the arcs are missing");
  }
  if (header.has_values && !options.weights)
    writer.report("values are dropped; add --weights to keep them as weights");
}

}  // namespace atl
