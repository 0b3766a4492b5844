#include "dataset/import/snap_lines.h"

#include <cmath>

#include "base/error.h"
#include "dataset/format/text.h"

namespace atl {
namespace {

std::int64_t parse_id(Fields& fields, const LineReader& lines) {
  std::string_view field;
  if (!fields.next(field))
    fail("{}: holds one id; an arc must be two ids: source and destination", lines.where());
  const Index id = parse_integer(field, lines);
  if (id < 0) fail("{}: the id {} is negative; ids are 0 or more", lines.where(), id);
  return id;
}

double parse_weight(Fields& fields, const LineReader& lines) {
  std::string_view field;
  if (!fields.next(field))
    fail("{}: has no third column for the weight; add it, or leave out --weights", lines.where());
  const double weight = parse_real(field, lines);
  if (!std::isfinite(weight) || weight < 0) {
    fail("{}: the weight is {}; weights must be finite and not negative: correct it, or leave out --weights",
         lines.where(), weight);
  }
  return weight;
}

}  // namespace

SnapSummary read_snap_lines(const std::filesystem::path& path, bool weights,
                            const std::function<void(const SnapArc&)>& take) {
  SnapSummary summary;
  LineReader lines(path);
  std::string_view line;
  while (lines.next(line)) {
    if (line.starts_with('#') || line.starts_with('%')) {
      if (line.find("Undirected") != std::string_view::npos) summary.says_undirected = true;
      continue;
    }
    Fields fields(line, line.find(',') == std::string_view::npos ? ' ' : ',');
    if (fields.at_end()) continue;
    SnapArc arc;
    arc.src = parse_id(fields, lines);
    arc.dst = parse_id(fields, lines);
    if (weights) {
      arc.weight = parse_weight(fields, lines);
    } else if (!fields.at_end()) {
      summary.ignored_columns = true;
    }
    take(arc);
  }
  return summary;
}

}  // namespace atl
