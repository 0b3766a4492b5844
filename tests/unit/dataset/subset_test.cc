// A part of a data set is the subgraph on its vertices, with their features, labels and splits.
#include "dataset/subset.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "train/small_job.h"

namespace atl {
namespace {

std::vector<std::uint8_t> all_marked(Index vertices) {
  return std::vector<std::uint8_t>(std::size_t(vertices), 1);
}

/// Of a vertex, whichever way they are.
std::vector<int> labels_of(const Dataset& dataset, VertexId v) {
  if (!dataset.meta().multi_label) return {dataset.labels()[std::size_t(v)]};
  std::vector<int> labels;
  for (Index c = 0; c < dataset.meta().classes; ++c) labels.push_back(dataset.targets().at(v, c));
  return labels;
}

class Subset : public testing::Test {
 protected:
  Dataset small(const SmallData& data) {
    write_small_data(folder_ / "small", data);
    return Dataset::open(folder_ / "small");
  }
  Dataset part_of(const Dataset& whole, const std::vector<VertexId>& vertices) {
    write_subset(whole, vertices, "default", 0, folder_ / "part");
    return Dataset::open(folder_ / "part");
  }
  TemporaryFolder folder_;
};

TEST_F(Subset, HasAsManyVerticesAsAreAskedForInOrder) {
  const Dataset whole = small({.vertices = 300});
  const auto some = drawn_neighbourhood(whole.graph(), all_marked(300), 50, 1);
  EXPECT_EQ(some.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  EXPECT_TRUE(std::ranges::adjacent_find(some) == some.end()) << "each once";
  EXPECT_EQ(drawn_neighbourhood(whole.graph(), all_marked(300), 50, 1), some);
  EXPECT_NE(drawn_neighbourhood(whole.graph(), all_marked(300), 50, 2), some);
  EXPECT_EQ(drawn_neighbourhood(whole.graph(), all_marked(300), 1000, 1).size(), 300U)
      << "all that there are";
}

/// Of vertices that lie anywhere, hardly any arcs would be between them.
TEST_F(Subset, VerticesLieNearEachOther) {
  const Dataset whole = small({.vertices = 2000, .arc_share = 0.002});
  const auto near = drawn_neighbourhood(whole.graph(), all_marked(2000), 200, 1);
  std::vector<VertexId> anywhere(200);
  for (std::size_t i = 0; i < anywhere.size(); ++i) anywhere[i] = VertexId(10 * i);
  const Index arcs = part_of(whole, near).meta().arcs;
  write_subset(whole, anywhere, "default", 0, folder_ / "anywhere");
  EXPECT_GT(arcs, 2 * Dataset::open(folder_ / "anywhere").meta().arcs);
}

TEST_F(Subset, StartsAtMarkedVertices) {
  const std::vector<Index> offsets(301, 0);  // no arcs: nothing leads on
  CsrView graph;
  graph.rows = graph.cols = 300, graph.offsets = offsets.data();
  std::vector<std::uint8_t> marks(300, 0);
  for (std::size_t v = 0; v < marks.size(); v += 3) marks[v] = 1;
  const auto some = drawn_neighbourhood(graph, marks, 20, 1);
  EXPECT_TRUE(std::ranges::all_of(some, [&](VertexId v) { return v % 3 == 0; }));
}

TEST_F(Subset, KeepsWhatItsVerticesHave) {
  const std::vector<VertexId> vertices{3, 4, 10, 11, 12, 17, 30, 31, 40, 53};
  for (const SmallData& data : {SmallData{.weighted = true}, SmallData{.density = 0.1}, kBitData,
                                SmallData{.multi_label = true, .symmetric = false}}) {
    const Dataset whole = small(data), part = part_of(whole, vertices);
    const CsrView all = whole.graph(), graph = part.graph();
    ASSERT_EQ(graph.rows, Index(vertices.size()));
    Matrix theirs(1, data.features), ours(1, data.features);
    for (VertexId v = 0; v < graph.rows; ++v) {
      const VertexId was = vertices[std::size_t(v)];
      std::vector<VertexId> sources;
      std::vector<float> weights;
      for (Index k = all.offsets[was]; k < all.offsets[was + 1]; ++k) {
        const auto at = std::ranges::find(vertices, all.columns[k]);
        if (at == vertices.end()) continue;
        sources.push_back(VertexId(at - vertices.begin()));
        if (data.weighted) weights.push_back(all.weights[k]);
      }
      EXPECT_TRUE(std::ranges::equal(graph.row(v), sources)) << v;
      EXPECT_EQ(graph.weights != nullptr, data.weighted);
      EXPECT_TRUE(std::equal(weights.begin(), weights.end(), graph.weights + graph.offsets[v])) << v;
      whole.read_features(std::span(&was, 1), theirs);
      part.read_features(std::span(&v, 1), ours);
      EXPECT_TRUE(std::equal(ours.data(), ours.data() + data.features, theirs.data())) << v;
      EXPECT_EQ(part.split("default").at(v, 0), whole.split("default").at(was, 0)) << v;
      EXPECT_EQ(labels_of(part, v), labels_of(whole, was)) << v;
    }
    EXPECT_EQ(part.meta().classes, whole.meta().classes);
    std::filesystem::remove_all(folder_ / "small");
    std::filesystem::remove_all(folder_ / "part");
  }
}

}  // namespace
}  // namespace atl
