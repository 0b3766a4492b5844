// SNAP's edge lists: each line has a source id and a destination id, separated by spaces, tabs or a comma,
// and optionally a weight; '#' and '%' start comments. Ids may have gaps and be any 64-bit number ≥ 0. They
// are mapped to 0 … n − 1 in ascending order, and the original ones kept. The text is read once.
#include "dataset/import/arc_lines.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "dataset/import/id_map.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

constexpr int kMostFields = 3;     // two ids and a weight
constexpr Index kFewestLines = 4;  // with fewer lines, a column may count by chance

void tell_columns(const SnapSummary& summary, bool weights, DatasetWriter& writer) {
  if (summary.columns > kMostFields && summary.whole_numbers) {
    writer.warn(fmt::format(
        "each line has {} whole numbers; the first two are taken as an arc. If lines are lists of neighbours, use --format "
        "adjacency",
        summary.columns));
  } else if (summary.columns >= kMostFields && !weights) {
    writer.report("the third column is not used; add --weights to use it");
  }
}

/// Warns of a table that was written with its index: the index's numbers would be taken for the arcs'
/// sources.
void tell_index(const SnapSummary& summary, Index arcs, DatasetWriter& writer) {
  if (!summary.counts_lines || summary.columns < kMostFields || arcs < kFewestLines) return;
  if (summary.columns > kMostFields && summary.whole_numbers) return;  // tell_columns() has warned
  writer.warn(fmt::format(
      "the first column counts the lines, {} … {}, as a table's index does, and is taken as the source of each arc. If it "
      "is an index, leave it out (pandas: to_csv(…, index=False, header=False))",
      summary.first.src, summary.first.src + arcs - 1));
}

/// Warns of a header that looks like an arc: "5 6" above the arcs of a graph with 5 vertices, or METIS'
/// header above lists of two neighbours each.
void tell_header(const SnapSummary& summary, Index arcs, DatasetWriter& writer) {
  const IdArc& first = summary.first;
  if (first.dst != arcs - 1 || first.src < summary.largest_other || arcs < kMostFields) return;
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
  tell_index(summary, arcs.arcs(), writer);
  tell_header(summary, arcs.arcs(), writer);
  writer.set_symmetrise(symmetrises(options, summary.says_undirected));
  arcs.hand_over(path.string(), writer);
}

namespace {

constexpr const char* kLists = "--format adjacency (NetworkX, DeepWalk) or --format metis";

std::int64_t next_id(Fields& fields, LineReader& lines, bool first) {
  std::string_view field;
  if (!fields.next(field) || field.starts_with('#')) {
    fail(
        "{}: holds one id; an arc must be two ids: source and destination. If lines are lists of neighbours, use {}",
        lines.where(), kLists);
  }
  return parse_id(field, lines, first);
}

double next_weight(Fields& fields, const LineReader& lines) {
  std::string_view field;
  if (!fields.next(field))
    fail("{}: has no third column for the weight; add it, or leave out --weights", lines.where());
  return parse_weight(field, lines);
}

/// Counts the columns of each line; all lines must have the same number.
class Columns {
 public:
  explicit Columns(SnapSummary& summary) : summary_(summary) {}

  /// `taken` columns have been read already; the remaining ones are in `fields`, before a comment.
  void count(int taken, Fields& fields, const LineReader& lines) {
    int columns = taken, empty = 0;  // empty fields at the end aren't columns
    std::string_view field;
    while (fields.next(field) && !field.starts_with('#')) {
      empty = field.empty() ? empty + 1 : 0;
      ++columns;
      const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
      summary_.whole_numbers = summary_.whole_numbers && std::ranges::all_of(field, is_digit);
    }
    columns -= empty;
    if (summary_.columns == 0) {
      summary_.columns = columns;
      line_ = lines.line();
    }
    if (columns == summary_.columns) return;
    if (!summary_.whole_numbers)
      fail("{}: line {} has {} columns, line {} has {}: give each line its weight, or none", lines.name(),
           lines.line(), columns, line_, summary_.columns);
    fail(
        "{}: line {} has {} columns, line {} has {}: an edge list has as many in each line; this looks like an adjacency "
        "list: use {}",
        lines.name(), lines.line(), columns, line_, summary_.columns, kLists);
  }

 private:
  SnapSummary& summary_;
  Index line_ = 0;  // the line that was counted first
};

}  // namespace

SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const IdArc&)>& take) {
  SnapSummary summary;
  Columns columns(summary);
  LineReader lines(path);
  Index taken = 0;
  std::string_view line;
  while (lines.next(line)) {
    if (line.starts_with('#') || line.starts_with('%')) {
      if (line.find("Undirected") != std::string_view::npos) summary.says_undirected = true;
      continue;
    }
    Fields fields(line, line.find(',') == std::string_view::npos ? ' ' : ',');
    if (fields.at_end()) continue;
    const bool first = summary.columns == 0;
    if (first && line.starts_with(','))
      fail(
          "{}: the first field is empty, as in the header of a table with an index: leave both out (pandas: to_csv(…, "
          "index=False, header=False))",
          lines.where());
    IdArc arc;
    arc.src = next_id(fields, lines, first);
    arc.dst = next_id(fields, lines, first);
    if (weights) arc.weight = next_weight(fields, lines);
    columns.count(weights ? 3 : 2, fields, lines);
    if (first)
      summary.first = arc;
    else
      summary.largest_other = std::max({summary.largest_other, arc.src, arc.dst});
    summary.counts_lines = summary.counts_lines && arc.src == summary.first.src + taken++;
    take(arc);
  }
  summary.counts_lines = summary.counts_lines && summary.first.src <= 1;
  return summary;
}

}  // namespace atl
