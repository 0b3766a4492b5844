// Adjacency lists, as NetworkX and DeepWalk write them: a line begins with a vertex, and its neighbours
// follow, separated by spaces, tabs or commas; '#' begins a comment. A vertex alone in its line has no
// neighbours there. v in u's line is the arc u → v. Ids may have gaps, as in an edge list. NetworkX writes an
// undirected edge once, DeepWalk's files have it in both lines: the user says which (--symmetrise).
#include <vector>

#include "base/error.h"
#include "dataset/import/arc_lines.h"
#include "dataset/import/id_map.h"
#include "dataset/import/importers.h"

namespace atl {

void import_adjacency(const std::filesystem::path& path, const ImportOptions& options,
                      DatasetWriter& writer) {
  if (options.weights) fail("{}: an adjacency list holds no weights; leave out --weights", path.string());
  MappedArcs arcs(writer.scratch_folder());
  read_adjacency_lines(path, [&](std::int64_t vertex, std::span<const std::int64_t> neighbours) {
    arcs.add_vertex(vertex);
    for (const std::int64_t neighbour : neighbours) arcs.add({vertex, neighbour});
  });
  if (arcs.arcs() == 0)
    fail("{}: holds no arcs; give a file with a vertex and its neighbours in each line", path.string());
  writer.set_symmetrise(symmetrises(options, false));
  arcs.hand_over(path.string(), writer);
}

namespace {

/// `vertices` has each line's vertex, `numbers` the lines' numbers.
void expect_one_line_each(std::span<const std::int64_t> vertices, std::span<const Index> numbers,
                          const std::string& name) {
  const auto twice = first_twice(vertices);
  if (!twice) return;
  fail(
      "{}: lines {} and {} both begin with {}; each line begins with a vertex of its own, and its neighbours follow: join "
      "the lines, or use --format metis if they hold neighbours alone",
      name, numbers[std::size_t(twice->first)], numbers[std::size_t(twice->second)],
      vertices[std::size_t(twice->first)]);
}

}  // namespace

void read_adjacency_lines(
    const std::filesystem::path& path,
    const std::function<void(std::int64_t vertex, std::span<const std::int64_t> neighbours)>& take) {
  LineReader lines(path);
  std::vector<std::int64_t> vertices, neighbours;
  std::vector<Index> numbers;
  std::string_view line, field;
  while (lines.next(line)) {
    line = line.starts_with('%') ? std::string_view() : line.substr(0, line.find('#'));
    Fields fields(line, line.find(',') == std::string_view::npos ? ' ' : ',');
    if (!fields.next(field)) continue;
    const bool first = vertices.empty();
    const std::int64_t vertex = parse_id(field, lines, first);
    neighbours.clear();
    while (fields.next(field)) {
      if (field.empty() && fields.at_end()) break;  // the line ends in a comma
      neighbours.push_back(parse_id(field, lines, first));
    }
    vertices.push_back(vertex);
    numbers.push_back(lines.line());
    take(vertex, neighbours);
  }
  expect_one_line_each(vertices, numbers, path.string());
}

}  // namespace atl
