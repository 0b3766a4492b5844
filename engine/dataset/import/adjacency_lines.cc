#include "dataset/import/adjacency_lines.h"

#include <vector>

#include "base/error.h"
#include "dataset/import/arc_fields.h"
#include "dataset/import/id_map.h"

namespace atl {
namespace {

/// The vertex of each line, and the lines' numbers.
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
      if (field.empty() && fields.at_end()) break;  // a comma at the end
      neighbours.push_back(parse_id(field, lines, first));
    }
    vertices.push_back(vertex);
    numbers.push_back(lines.line());
    take(vertex, neighbours);
  }
  expect_one_line_each(vertices, numbers, path.string());
}

}  // namespace atl
