// METIS' graph files: a header with the numbers of vertices and edges, then a line for each vertex with its
// neighbours, counted from 1. Vertex sizes and weights are left out; edge weights are kept if asked for.
// Edges have no direction, and each is in the lines of both its ends.
#include "dataset/import/arc_lines.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/text.h"
#include "dataset/import/importers.h"
#include "dataset/import/paired_ends.h"

namespace atl {
namespace {

constexpr std::size_t kArcsPiece = 1 << 16;

/// Hands arcs to the writer, some at a time.
class Arcs {
 public:
  Arcs(const std::filesystem::path& path, DatasetWriter& writer) : origin_{path.string()}, writer_(writer) {}

  void add(const MetisArc& arc) {
    src_.push_back(arc.vertex);
    dst_.push_back(arc.neighbour);
    weights_.push_back(float(arc.weight));
    if (src_.size() == kArcsPiece) hand_over();
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

namespace {

constexpr Index kMostVertices = (Index(1) << 31) - 2, kMostEdges = Index(1) << 48, kMostWeights = 1 << 16;

Index next_number(Fields& fields, const LineReader& lines, const char* what, Index least, Index most) {
  std::string_view field;
  if (!fields.next(field)) fail("{}: the {} is missing; correct the line", lines.where(), what);
  const Index number = parse_integer(field, lines);
  if (number < least || number > most)
    fail("{}: the {} is {}; allowed are {} … {}", lines.where(), what, number, least, most);
  return number;
}

/// Skips comments, but not empty lines, which belong to vertices without neighbours.
bool next_line(LineReader& lines, std::string_view& line) {
  while (lines.next(line)) {
    if (!line.starts_with('%')) return true;
  }
  return false;
}

/// fmt has three digits, of which leading ones may be missing: vertex sizes, vertex weights, edge weights.
void parse_format(std::string_view digits, const LineReader& lines, MetisHeader& header) {
  const bool valid = digits.size() <= 3 && digits.find_first_not_of("01") == std::string_view::npos;
  if (!valid)
    fail(
        "{}: the header's third number is {}; it is made of up to three digits 0 and 1: whether there are vertex sizes, "
        "vertex weights and edge weights",
        lines.where(), in_quotes(digits));
  const auto digit = [&](std::size_t from_the_end) {
    return digits.size() >= from_the_end && digits[digits.size() - from_the_end] == '1';
  };
  header.edge_weights = digit(1);
  header.vertex_weights = digit(2) ? 1 : 0;
  header.sizes = digit(3);
}

MetisHeader parse_header(LineReader& lines) {
  std::string_view line, field;
  bool found = false;
  while (!found && next_line(lines, line)) found = !Fields(line).at_end();
  if (!found) fail("{}: is empty; it must begin with the numbers of vertices and edges", lines.name());
  Fields fields(line);
  MetisHeader header;
  header.vertices = next_number(fields, lines, "number of vertices", 1, kMostVertices);
  header.edges = next_number(fields, lines, "number of edges", 0, kMostEdges);
  if (fields.next(field)) parse_format(field, lines, header);
  if (!fields.at_end())
    header.vertex_weights =
        next_number(fields, lines, "number of weights of a vertex", header.vertex_weights, kMostWeights);
  if (!fields.at_end())
    fail("{}: has more than four numbers; a METIS file begins with the numbers of vertices and edges",
         lines.where());
  return header;
}

/// The neighbours in one vertex' line.
class LineOfVertex {
 public:
  LineOfVertex(const MetisHeader& header, const LineReader& lines, VertexId vertex)
      : header_(header), lines_(lines), vertex_(vertex) {}

  template <class Take>
  void read(std::string_view line, Take&& take) {
    Fields fields(line);
    for (Index i = 0; i < header_.vertex_weights + header_.sizes; ++i)
      next_number(fields, lines_, "size or weight of the vertex", 0, kMostEdges);
    while (!fields.at_end()) take(next_arc(fields));
  }

 private:
  MetisArc next_arc(Fields& fields) const {
    const Index id = next_number(fields, lines_, "neighbour", 1, header_.vertices);
    if (id - 1 == vertex_)
      fail(
          "{}: vertex {} lists itself; a METIS file has no self-loops: remove it there, and count without it",
          lines_.where(), id);
    MetisArc arc{vertex_, VertexId(id - 1)};
    if (header_.edge_weights)
      arc.weight =
          next_number(fields, lines_, "weight that the header promises for each neighbour", 1, kMostEdges);
    return arc;
  }

  const MetisHeader& header_;
  const LineReader& lines_;
  VertexId vertex_;
};

/// Reads the file once; `take` gets the line's number too.
template <class Take>
MetisHeader read_lines(const std::filesystem::path& path, Take&& take) {
  LineReader lines(path);
  const MetisHeader header = parse_header(lines);
  std::string_view line;
  Index vertex = 0;
  while (next_line(lines, line)) {
    if (vertex < header.vertices) {
      LineOfVertex(header, lines, VertexId(vertex)).read(line, [&](const MetisArc& arc) {
        take(header, arc, lines.line());
      });
      ++vertex;
    } else if (!Fields(line).at_end()) {
      fail("{}: is a line more than the {} vertices of the header; correct the header", lines.where(),
           header.vertices);
    }
  }
  if (vertex < header.vertices)
    fail(
        "{}: ends after the lines of {} of {} vertices; copy or download it again (a vertex without neighbours has an "
        "empty line)",
        lines.name(), vertex, header.vertices);
  return header;
}

[[noreturn]] void fail_unpaired(const std::filesystem::path& path, const PairedEnds& ends) {
  std::vector<PairedEnds::End> suspects;
  read_lines(path, [&](const MetisHeader&, const MetisArc& arc, Index line) {
    if (ends.is_suspect(arc.vertex, arc.neighbour))
      suspects.push_back({arc.vertex, arc.neighbour, arc.weight, line});
  });
  const PairedEnds::End lone = PairedEnds::find_lone(std::move(suspects));
  fail(
      "{}:{}: vertex {} lists {}{}, but vertex {} doesn't list {}{}; a METIS file has each edge in both lines: add it "
      "there, or correct the line",
      path.string(), lone.line, lone.from + 1, lone.to + 1,
      lone.weight == 1 ? "" : fmt::format(" with weight {}", lone.weight), lone.to + 1, lone.from + 1,
      lone.weight == 1 ? "" : " with that");
}

}  // namespace

MetisHeader read_metis(const std::filesystem::path& path,
                       const std::function<void(const MetisHeader&, const MetisArc&)>& take) {
  PairedEnds ends;
  Index listed = 0;
  const MetisHeader header = read_lines(path, [&](const MetisHeader& h, const MetisArc& arc, Index) {
    ends.add({arc.vertex, arc.neighbour, arc.weight});
    ++listed;
    take(h, arc);
  });
  if (!ends.are_paired()) fail_unpaired(path, ends);
  if (listed != 2 * header.edges)
    fail(
        "{}: the lines list {} neighbours, which are {} edges; the header says {}: correct it, or copy or download the "
        "file again",
        path.string(), listed, listed / 2, header.edges);
  return header;
}

}  // namespace atl
