// SNAP's edge lists: a source and a destination id a line, separated by spaces, tabs or a comma, an optional
// weight third; '#' and '%' start comments. Ids may have gaps and be any 64-bit number ≥ 0: they are mapped
// to 0 … n − 1 in ascending order, and the original ones kept. The text is read once.
#include "base/error.h"
#include "dataset/import/importers.h"
#include "dataset/import/mapped_arcs.h"
#include "dataset/import/snap_lines.h"

namespace atl {
namespace {

constexpr int kMostColumns = 3;  // two ids and a weight

void tell_columns(const SnapSummary& summary, bool weights, DatasetWriter& writer) {
  if (summary.columns > kMostColumns && summary.whole_numbers) {
    writer.warn(fmt::format(
        "each line has {} whole numbers; the first two are taken as an arc. If lines are lists of neighbours, use --format "
        "adjacency",
        summary.columns));
  } else if (summary.columns >= kMostColumns && !weights) {
    writer.report("the third column is not used; add --weights to use it");
  }
}

/// "5 6" above the arcs of a graph with 5 vertices, or METIS' header above lists of two neighbours each.
void tell_header(const SnapSummary& summary, Index arcs, DatasetWriter& writer) {
  const IdArc& first = summary.first;
  if (first.dst != arcs - 1 || first.src < summary.largest_other || arcs < kMostColumns) return;
  writer.warn(fmt::format(
      "the first line, {} {}, is taken as an arc, but may be a header: {} lines follow, and no id in them is above {}. If "
      "it is, remove it; a METIS file is read by --format metis",
      first.src, first.dst, arcs - 1, summary.largest_other));
}

}  // namespace

void import_snap(const std::filesystem::path& path, const ImportOptions& options, DatasetWriter& writer) {
  MappedArcs arcs(writer.scratch_folder());
  const SnapSummary summary =
      read_snap_lines(path, options.weights, [&](const IdArc& arc) { arcs.add(arc); });
  if (arcs.arcs() == 0) fail("{}: holds no arcs; give a file with two ids per line", path.string());
  tell_columns(summary, options.weights, writer);
  tell_header(summary, arcs.arcs(), writer);
  writer.set_symmetrise(symmetrises(options, summary.says_undirected));
  arcs.hand_over(path.string(), writer);
}

}  // namespace atl
