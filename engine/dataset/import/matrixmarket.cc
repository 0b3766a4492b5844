// MatrixMarket coordinate files: entry (row, column[, value]), ids from 1. Row = source,
// column = destination, as in a line of an edge list. A symmetric file stores one triangle.
#include "dataset/import/arc_lines.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/text.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

constexpr std::size_t kEntriesPiece = 1 << 16;

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
        if (src.size() == kEntriesPiece) hand_over(h);
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

namespace {

constexpr Index kMaxSize = (Index(1) << 31) - 2;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return out;
}

std::string next_word(Fields& fields, const LineReader& lines) {
  std::string_view word;
  if (!fields.next(word)) {
    fail("{}: is not a MatrixMarket header; it must be '%%MatrixMarket matrix coordinate FIELD SYMMETRY'",
         lines.where());
  }
  return lower(word);
}

/// "%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric"
MatrixMarketHeader parse_banner(std::string_view line, const LineReader& lines) {
  Fields fields(line);
  const std::string banner = next_word(fields, lines), object = next_word(fields, lines),
                    format = next_word(fields, lines), field = next_word(fields, lines),
                    symmetry = next_word(fields, lines);
  const auto require = [&](bool holds, std::string_view word, std::string_view allowed) {
    if (!holds) fail("{}: {} cannot be imported; allowed: {}", lines.where(), in_quotes(word), allowed);
  };
  require(banner == "%%matrixmarket", banner, "%%MatrixMarket");
  require(object == "matrix", object, "matrix");
  require(format == "coordinate", format, "coordinate");
  require(field == "pattern" || field == "real" || field == "integer", field, "pattern, real or integer");
  require(symmetry == "general" || symmetry == "symmetric", symmetry, "general or symmetric");
  MatrixMarketHeader header;
  header.has_values = field != "pattern";
  header.symmetric = symmetry == "symmetric";
  return header;
}

Index next_integer(Fields& fields, const LineReader& lines, const char* what) {
  std::string_view field;
  if (!fields.next(field)) fail("{}: the {} is missing; correct the line", lines.where(), what);
  return parse_integer(field, lines);
}

bool next_data_line(LineReader& lines, std::string_view& line) {
  while (lines.next(line)) {
    if (!line.starts_with('%') && !Fields(line).at_end()) return true;
  }
  return false;
}

void parse_size(LineReader& lines, MatrixMarketHeader& header) {
  std::string_view line;
  if (!next_data_line(lines, line))
    fail("{}: ends before its size line; copy or download it again", lines.where());
  Fields fields(line);
  const Index rows = next_integer(fields, lines, "number of rows");
  header.size = next_integer(fields, lines, "number of columns");
  header.entries = next_integer(fields, lines, "number of entries");
  if (rows != header.size) {
    fail("{}: the matrix is {} × {}; it must be square", lines.where(), rows, header.size);
  }
  if (rows < 1 || rows > kMaxSize || header.entries < 0) {
    fail("{}: {} rows with {} entries; allowed are 1 … {} rows", lines.where(), rows, header.entries,
         kMaxSize);
  }
}

VertexId parse_place(Fields& fields, const LineReader& lines, Index size) {
  const Index place = next_integer(fields, lines, "row or column");
  if (place < 1 || place > size) {
    fail("{}: the row or column {} is out of range; allowed are 1 … {}", lines.where(), place, size);
  }
  return VertexId(place - 1);
}

MatrixEntry parse_entry(std::string_view line, const MatrixMarketHeader& header, const LineReader& lines) {
  Fields fields(line);
  MatrixEntry entry;
  entry.row = parse_place(fields, lines, header.size);
  entry.column = parse_place(fields, lines, header.size);
  std::string_view field;
  if (header.has_values) {
    if (!fields.next(field)) fail("{}: the value is missing; correct the line", lines.where());
    entry.value = parse_real(field, lines);
    if (!std::isfinite(entry.value))
      fail("{}: the value is {}; it must be finite", lines.where(), entry.value);
  }
  if (!fields.at_end()) fail("{}: has more fields than the header says; correct the line", lines.where());
  return entry;
}

}  // namespace

MatrixMarketHeader read_matrixmarket(
    const std::filesystem::path& path, bool weights,
    const std::function<void(const MatrixMarketHeader&, const MatrixEntry&)>& take) {
  LineReader lines(path);
  std::string_view line;
  if (!lines.next(line)) fail("{}: is empty; copy or download it again", path.string());
  MatrixMarketHeader header = parse_banner(line, lines);
  if (weights && !header.has_values) {
    fail("{}: a pattern matrix has no weights; leave out --weights", lines.where());
  }
  parse_size(lines, header);
  Index entries = 0;
  while (next_data_line(lines, line)) {
    if (entries == header.entries) {
      fail("{}: the file holds more entries than the {} of its size line; correct the size line",
           lines.where(), header.entries);
    }
    const MatrixEntry entry = parse_entry(line, header, lines);
    if (weights && entry.value < 0) {
      fail("{}: the value is {}; weights must not be negative: correct it, or leave out --weights",
           lines.where(), entry.value);
    }
    if (weights) as_float32(entry.value, lines.where() + ": the value");
    take(header, entry);
    ++entries;
  }
  if (entries != header.entries) {
    fail("{}: ends after {} of {} entries; copy or download it again", lines.where(), entries,
         header.entries);
  }
  return header;
}

}  // namespace atl
