// Broken METIS graph files and adjacency lists.
#include "dataset/import/bad_input.h"
#include "dataset/import/gzip.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void graph_file(const fs::path& folder, const std::string& text) {
  write_text(folder / "a.graph", text);
}

/// The neighbours of a vertex that has 33 million, on a line.
std::string hub() {
  std::string line;
  line.reserve(std::size_t(66) << 20);
  while (line.size() < std::size_t(65) << 20) line += "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 ";
  return line + "\n";
}

// clang-format off
const BadInput kCases[] = {
    {"metis_empty", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "% nothing\n"); },
     {"a.graph: is empty", "numbers of vertices and edges"}},
    {"metis_no_edges", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 0\n\n\n"); },
     {"a.graph: holds no edges"}},
    {"metis_header_of_one_number", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "3\n2\n1\n\n"); },
     {"a.graph:1: the number of edges is missing"}},
    {"metis_no_vertices", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "0 0\n"); },
     {"a.graph:1: the number of vertices is 0", "1 … 2147483646"}},
    {"metis_unknown_fmt", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 2\n2\n1\n"); },
     {"a.graph:1", "third number is '2'", "digits 0 and 1"}},
    {"metis_header_too_long", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 11 1 7\n2\n1\n"); },
     {"a.graph:1: has more than four numbers"}},
    {"metis_neighbour_zero", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1\n1\n0\n"); },
     {"a.graph:2: vertex 1 lists itself"}},
    {"metis_counts_from_zero", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "% c\n3 2\n\n0 2\n1\n"); },
     {"a.graph:4: the neighbour is 0; allowed are 1 … 3"}},
    {"metis_neighbour_beyond", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1\n2\n3\n"); },
     {"a.graph:3: the neighbour is 3; allowed are 1 … 2"}},
    {"metis_edge_once", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "3 2\n2 3\n1\n\n"); },
     {"a.graph:2: vertex 1 lists 3, but vertex 3 doesn't list 1", "add it"}},
    {"metis_edge_once_from_above", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "3 2\n2\n1\n2\n"); },
     {"a.graph:4: vertex 3 lists 2, but vertex 2 doesn't list 3"}},
    {"metis_weights_differ", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 1\n2 5\n1 6\n"); },
     {"a.graph:2: vertex 1 lists 2 with weight 5, but vertex 2 doesn't list 1 with that"}},
    {"metis_weight_missing", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 001\n2\n1 6\n"); },
     {"a.graph:2", "weight that the header promises", "is missing"}},
    {"metis_weight_zero", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 1\n2 0\n1 0\n"); },
     {"a.graph:2: the weight", "is 0; allowed are 1"}},
    {"metis_vertex_weight_missing", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1 10 2\n4\n1 1 1\n"); },
     {"a.graph:2: the size or weight of the vertex is missing"}},
    {"metis_too_few_lines", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "3 1\n2\n1\n"); },
     {"a.graph: ends after the lines of 2 of 3 vertices", "empty line"}},
    {"metis_too_many_lines", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1\n2\n1\n\n1\n"); },
     {"a.graph:5: is a line more than the 2 vertices"}},
    {"metis_other_number_of_edges", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "3 3\n2\n1 3\n2\n"); },
     {"a.graph: the lines list 4 neighbours, which are 2 edges; the header says 3"}},
    {"metis_has_no_weights", "metis", "a.graph", [](const fs::path& f) { graph_file(f, "2 1\n2\n1\n"); },
     {"a.graph: its edges have no weights", "leave out --weights"}, [](ImportOptions& o) { o.weights = true; }},
    {"metis_hub_too_long", "metis", "a.graph", [](const fs::path& f) { graph_file(f, gzip("2 1\n" + hub() + "1\n")); },
     {"a.graph:2: the line is longer than 64 MiB, the most that is read as one", "--format snap"}},
    {"adjacency_hub_too_long", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, gzip("0 1\n1 " + hub())); },
     {"a.graph:2: the line is longer than 64 MiB, the most that is read as one", "--format snap"}},
    {"adjacency_word", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "0 1 2\n1 two\n"); },
     {"a.graph:2: 'two' is not a whole number"}},
    {"adjacency_names", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "ann bob\nbob cy\n"); },
     {"a.graph:1: 'ann'", "ids are text"}},
    {"adjacency_negative", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "0 -1\n"); },
     {"a.graph:1: the id -1 is negative"}},
    {"adjacency_empty", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "# none\n7\n8 # alone\n"); },
     {"a.graph: holds no arcs"}},
    {"adjacency_vertex_twice", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "5 6\n\n2 3\n1 3 4\n1 2 5\n2 5\n"); },
     {"a.graph: lines 4 and 5 both begin with 1", "--format metis"}},
    {"adjacency_weights", "adjacency", "a.graph", [](const fs::path& f) { graph_file(f, "0 1\n"); },
     {"holds no weights", "leave out --weights"}, [](ImportOptions& o) { o.weights = true; }},
};
// clang-format on

using BadLists = BadInputTest;

TEST_P(BadLists, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadLists, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
