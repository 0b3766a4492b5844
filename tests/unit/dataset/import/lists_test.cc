// Adjacency lists and METIS files compared with the same graph as an edge list; the test draws the graph and
// writes the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "dataset/dataset.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kVertices = 40;

/// Weights of undirected edges (a, b), a < b; vertices 7 and 39 have none.
std::map<std::pair<int, int>, int> drawn_edges() {
  std::mt19937 draws(3);
  std::map<std::pair<int, int>, int> edges;
  for (int i = 0; i < 120; ++i) {
    const int a = int(draws() % kVertices), b = int(draws() % kVertices), weight = 1 + int(draws() % 9);
    const bool alone = a == 7 || b == 7 || a == 39 || b == 39;
    if (a != b && !alone) edges[std::minmax(a, b)] = weight;
  }
  return edges;
}

class ListsTest : public ::testing::Test {
 protected:
  Dataset import(const std::string& format, const std::string& source, ImportOptions options = {}) {
    options.replace = true;
    told_.clear();
    const auto tell = [this](const std::string& line) { told_ += line + "\n"; };
    import_dataset(format, folder_ / source, folder_ / ("out-" + format), options, tell, tell);
    return Dataset::open(folder_ / ("out-" + format));
  }
  static ImportOptions weighted() {
    ImportOptions options;
    options.weights = true;
    return options;
  }
  /// (destination, source) → weight
  static std::map<std::pair<Index, VertexId>, float> arcs_of(const Dataset& dataset) {
    std::map<std::pair<Index, VertexId>, float> arcs;
    const CsrView graph = dataset.graph();
    for (Index v = 0; v < graph.rows; ++v)
      for (Index i = graph.offsets[v]; i < graph.offsets[v + 1]; ++i)
        arcs[{v, graph.columns[i]}] = graph.weights ? graph.weights[i] : 1.0f;
    return arcs;
  }

  TemporaryFolder folder_;
  std::string told_;
};

/// fmt 111 with two weights a vertex, comments between the lines.
TEST_F(ListsTest, MetisIsTheGraphOfItsEdges) {
  const auto edges = drawn_edges();
  std::vector<std::string> lines(kVertices, "9 1 2");  // size and weights of the vertex
  std::map<std::pair<Index, VertexId>, float> expected;
  for (const auto& [edge, weight] : edges) {
    const auto [a, b] = edge;
    lines[std::size_t(a)] += fmt::format(" {} {}", b + 1, weight);
    lines[std::size_t(b)] += fmt::format("\t{} {}", a + 1, weight);
    expected[{a, b}] = expected[{b, a}] = float(weight);
  }
  std::string text = fmt::format("% drawn\n{} {} 111 2\n", kVertices, edges.size());
  for (const std::string& line : lines) text += line + " \r\n% a line\n";
  write_text(folder_ / "a.graph", text);
  const Dataset dataset = import("metis", "a.graph", weighted());
  EXPECT_EQ(dataset.meta().vertices, kVertices);
  EXPECT_EQ(arcs_of(dataset), expected);
  EXPECT_TRUE(dataset.meta().symmetric);
  EXPECT_THAT(told_, HasSubstr("vertices' sizes and weights are not used"));
  EXPECT_FALSE(import("metis", "a.graph").meta().weighted);
  EXPECT_THAT(told_, HasSubstr("edge weights are dropped; add --weights"));
}

/// The example of METIS' manual (5.1, figure 2a): seven vertices, eleven edges.
TEST_F(ListsTest, MetisOfTheManual) {
  write_text(folder_ / "m.graph", "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n");
  const Dataset dataset = import("metis", "m.graph");
  EXPECT_EQ(dataset.meta().vertices, 7);
  EXPECT_EQ(dataset.meta().arcs, 22);
  const auto row = dataset.graph().row(2);
  EXPECT_THAT(std::vector<VertexId>(row.begin(), row.end()), ElementsAre(0, 1, 3, 4));
}

TEST_F(ListsTest, MetisMayEndWithLinesOfVerticesWithoutNeighbours) {
  write_text(folder_ / "e.graph", "4 1\n\n3\n2\n\n");
  EXPECT_EQ(import("metis", "e.graph").meta().vertices, 4);
}

/// As DeepWalk's files have it, an edge in both lines; and as NetworkX writes it, in one.
TEST_F(ListsTest, AdjacencyIsTheGraphOfItsEdges) {
  const auto edges = drawn_edges();
  std::vector<std::string> both(kVertices), once(kVertices);
  std::string list = "# Undirected graph\n";
  for (const auto& [edge, weight] : edges) {
    const auto [a, b] = edge;
    both[std::size_t(a)] += fmt::format(" {}", 10 * b);
    both[std::size_t(b)] += fmt::format("\t{}", 10 * a);
    once[std::size_t(a)] += fmt::format(" {}", 10 * b);
    list += fmt::format("{} {}\n", 10 * a, 10 * b);
  }
  std::string both_text = "# two ends\n", once_text;
  for (int v = kVertices - 1; v >= 0; --v) {
    if (v != 7) both_text += fmt::format("{}{} # all\n", 10 * v, both[std::size_t(v)]);
    if (v != 7) once_text += fmt::format("{}{}\n", 10 * v, once[std::size_t(v)]);
  }
  write_text(folder_ / "both.adjlist", both_text);
  write_text(folder_ / "once.adjlist", once_text);
  write_text(folder_ / "list.txt", list);
  const auto expected = arcs_of(import("snap", "list.txt"));
  const Dataset dataset = import("adjacency", "both.adjlist");
  EXPECT_EQ(dataset.meta().vertices, kVertices - 1) << "39 stands alone in its line, 7 nowhere";
  EXPECT_EQ(dataset.original_ids().back(), 390);
  EXPECT_EQ(arcs_of(dataset), expected);
  ImportOptions options;
  EXPECT_THAT((import("adjacency", "once.adjlist", options), told_), HasSubstr("add --symmetrise"));
  options.symmetrise = ImportOptions::Choice::kYes;
  EXPECT_EQ(arcs_of(import("adjacency", "once.adjlist", options)), expected);
}

/// 0: 1, 2 is 0 → 1 and 0 → 2: both read vertex 0.
TEST_F(ListsTest, AdjacencyLetsNeighboursReadTheVertex) {
  write_text(folder_ / "a.adjlist", "0,1,2,\n");
  ImportOptions options;
  options.symmetrise = ImportOptions::Choice::kNo;
  EXPECT_EQ(arcs_of(import("adjacency", "a.adjlist", options)),
            (std::map<std::pair<Index, VertexId>, float>{{{1, 0}, 1.0f}, {{2, 0}, 1.0f}}));
}

/// A ring's METIS file has two numbers in every line, as an edge list has.
TEST_F(ListsTest, AnEdgeListThatMayBeOtherwiseIsDoubted) {
  write_text(folder_ / "ring.txt", "5 5\n5 2\n1 3\n2 4\n3 5\n4 1\n");
  import("snap", "ring.txt");
  EXPECT_THAT(told_, HasSubstr("the first line, 5 5, is taken as an arc, but may be a header"));
  write_text(folder_ / "cubic.txt", "0 1 2 3\n1 0 2 3\n2 0 1 3\n3 0 1 2\n");
  import("snap", "cubic.txt");
  EXPECT_THAT(told_, HasSubstr("each line has 4 whole numbers; the first two are taken as an arc"));
  write_text(folder_ / "times.txt", "0 1 0.5 1082008561\n1 2 0.25 1082008562\n");
  import("snap", "times.txt");
  EXPECT_THAT(told_, ::testing::Not(HasSubstr("lists of neighbours")));
  write_text(folder_ / "comments.txt", "0 1 # first\n1 2\n2,3,\n");
  EXPECT_EQ(import("snap", "comments.txt").meta().arcs, 3);
}

/// pandas' to_csv writes a table with its index; without the header each line would be an arc from its
/// number.
TEST_F(ListsTest, AColumnThatCountsTheLinesIsDoubted) {
  const char* const doubt = "the first column counts the lines";
  write_text(folder_ / "index.csv", "0,5,6\n1,6,7\n2,7,5\n3,5,7\n");
  import("snap", "index.csv");
  EXPECT_THAT(told_, HasSubstr("the first column counts the lines, 0 … 3, as a table's index does"));
  write_text(folder_ / "from1.txt", "# index from 1\n1 5 6\n2 6 7\n3 7 5\n4 5 7\n");
  import("snap", "from1.txt");
  EXPECT_THAT(told_, HasSubstr(doubt));
  for (const char* text :
       {"0 1\n1 2\n2 3\n3 4\n", "0 1 9\n1 2 9\n2 3 9\n2 4 9\n", "5 1 9\n6 2 9\n7 3 9\n8 4 9\n"}) {
    write_text(folder_ / "arcs.txt", text);
    import("snap", "arcs.txt");
    EXPECT_THAT(told_, ::testing::Not(HasSubstr(doubt))) << text;
  }
}

/// Nearer to 0 than double tells: 0 is what is nearest.
TEST_F(ListsTest, AWeightBelowDoublesRangeIsZero) {
  write_text(folder_ / "small.txt", "0 1 1e-400\n1 2 1e-300\n2 0 0.5\n");
  const Dataset dataset = import("snap", "small.txt", weighted());
  EXPECT_EQ(arcs_of(dataset),
            (std::map<std::pair<Index, VertexId>, float>{{{1, 0}, 0.0f}, {{2, 1}, 0.0f}, {{0, 2}, 0.5f}}));
}

}  // namespace
}  // namespace atl
