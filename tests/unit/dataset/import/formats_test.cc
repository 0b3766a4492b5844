// Features of each format that the real data sets don't have: gzip, comments, gaps, weights, several labels,
// isolated vertices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/dataset.h"
#include "dataset/import/csr_archive.h"
#include "dataset/import/gzip.h"
#include "dataset/import/importers.h"
#include "dataset/import/tiny_pickle.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using ::testing::ElementsAre;

class FormatsTest : public ::testing::Test {
 protected:
  Dataset import(const std::string& format, const std::string& source, ImportOptions options = {}) {
    options.replace = true;
    import_dataset(format, folder_ / source, folder_ / "out", options);
    return Dataset::open(folder_ / "out");
  }
  static std::vector<VertexId> row(const Dataset& dataset, Index v) {
    const auto found = dataset.graph().row(v);
    return {found.begin(), found.end()};
  }
  static ImportOptions weighted() {
    ImportOptions options;
    options.weights = true;
    return options;
  }

  TemporaryFolder folder_;
};

TEST_F(FormatsTest, SnapMapsGapsSkipsCommentsAndReadsGzip) {
  const std::string text = "# Directed graph\n\n7 100\r\n100\t9\n% more\n7, 9\n";
  write_text(folder_ / "a.txt", text);
  write_text(folder_ / "a.txt.gz", gzip(text.substr(0, 30)) + gzip(text.substr(30)) +
                                       std::string(512, '\0'));  // two are one text, padded
  for (const char* file : {"a.txt", "a.txt.gz"}) {
    const Dataset dataset = import("snap", file);
    EXPECT_THAT(dataset.original_ids(), ElementsAre(7, 9, 100));
    EXPECT_THAT(row(dataset, 1), ElementsAre(0, 2));
    EXPECT_THAT(row(dataset, 2), ElementsAre(0));
    EXPECT_FALSE(dataset.meta().symmetric);
  }
}

TEST_F(FormatsTest, TextMayBeginWithAByteOrderMark) {
  write_text(folder_ / "a.txt",
             "\xEF\xBB\xBF"
             "0 1\r\n1 2\r\n");
  EXPECT_EQ(import("snap", "a.txt").meta().arcs, 2);
}

TEST_F(FormatsTest, SnapHonoursUndirectedWeightsAndWideIds) {
  write_text(folder_ / "a.txt", "# Undirected graph: x\n5 9000000000000 2.5\n");
  const Dataset dataset = import("snap", "a.txt", weighted());
  EXPECT_THAT(dataset.original_ids(), ElementsAre(5, 9000000000000));
  EXPECT_EQ(dataset.graph().arcs(), 2);
  EXPECT_EQ(dataset.graph().weights[1], 2.5f);
  EXPECT_TRUE(dataset.meta().symmetric);
}

TEST_F(FormatsTest, MatrixMarketRowsAreSources) {
  write_text(folder_ / "a.mtx",
             "%%MatrixMarket matrix coordinate real general\n% c\n3 3 2\n1 2 0.5\n3 1 2e0\n");
  const Dataset dataset = import("matrixmarket", "a.mtx", weighted());
  EXPECT_THAT(row(dataset, 1), ElementsAre(0));
  EXPECT_THAT(row(dataset, 0), ElementsAre(2));
  EXPECT_EQ(dataset.graph().weights[0], 2.0f);
  EXPECT_FALSE(import("matrixmarket", "a.mtx").meta().weighted);
}

TEST_F(FormatsTest, MatrixMarketSymmetricPatternInGzip) {
  write_text(folder_ / "a.mtx.gz",
             gzip("%%MatrixMarket MATRIX Coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"));
  const Dataset dataset = import("matrixmarket", "a.mtx.gz");
  EXPECT_EQ(dataset.meta().arcs, 3);
  EXPECT_EQ(dataset.meta().self_loops, 1);
  EXPECT_TRUE(dataset.meta().symmetric);
}

TEST_F(FormatsTest, OgbReadsFeaturesLabelsSplitsAndWeights) {
  write_text(folder_ / "ogb/raw/num-node-list.csv.gz", gzip("3\n"));
  write_text(folder_ / "ogb/raw/edge.csv.gz", gzip("0,1\n1,2\n"));
  write_text(folder_ / "ogb/raw/edge-feat.csv.gz", gzip("0.5\n4\n"));
  write_text(folder_ / "ogb/raw/node-feat.csv.gz", gzip("1,2\n3,4\n5,-6e-1\n"));
  write_text(folder_ / "ogb/raw/node-label.csv", "1\nnan\n0.0\n");
  for (const char* part : {"train", "valid", "test"}) {
    write_text(folder_ / ("ogb/split/time/" + std::string(part) + ".csv.gz"),
               gzip(std::to_string(part[1] % 3) + "\n"));
  }
  ImportOptions options = weighted();
  const Dataset dataset = import("ogb", "ogb", options);
  EXPECT_EQ(dataset.meta().arcs, 4);
  EXPECT_THAT(dataset.labels(), ElementsAre(1, -1, 0));
  EXPECT_THAT(std::vector<float>(dataset.graph().weights, dataset.graph().weights + 4),
              ElementsAre(0.5f, 0.5f, 4, 4));
  EXPECT_EQ(dataset.split("default").at('r' % 3, 0), std::uint8_t(Split::kTrain));
  EXPECT_EQ(dataset.split("default").at('a' % 3, 0), std::uint8_t(Split::kValidation));
  Matrix features(1, 2);
  dataset.read_features(std::vector<VertexId>{2}, features);
  EXPECT_FLOAT_EQ(float(features.at(0, 1)), -0.6f);
  EXPECT_EQ(import("ogb", "ogb/raw").split("default").rows, 3);
}

/// As ogbn-mag's raw/ has it: the relation papers cite, with what belongs to papers.
TEST_F(FormatsTest, OgbRelationOfOneTypeIsAGraph) {
  write_text(folder_ / "mag/raw/triplet-type-list.csv.gz", gzip("author,writes,paper\npaper,cites,paper\n"));
  write_text(folder_ / "mag/raw/num-node-dict.csv.gz", gzip("author,paper\n7,3\n"));
  write_text(folder_ / "mag/raw/relations/paper___cites___paper/edge.csv.gz", gzip("0,1\n1,2\n"));
  write_text(folder_ / "mag/raw/node-feat/paper/node-feat.csv.gz", gzip("1,2\n3,4\n5,6\n"));
  write_text(folder_ / "mag/raw/node-label/paper/node-label.csv.gz", gzip("0\n1\n1\n"));
  for (const char* part : {"train", "valid", "test"})
    write_text(folder_ / ("mag/split/time/paper/" + std::string(part) + ".csv"),
               std::to_string(part[1] % 3) + "\n");
  const Dataset dataset = import("ogb", "mag/raw/relations/paper___cites___paper");
  EXPECT_EQ(dataset.meta().vertices, 3);
  EXPECT_EQ(dataset.meta().arcs, 4);
  EXPECT_EQ(dataset.meta().features, 2);
  EXPECT_THAT(dataset.labels(), ElementsAre(0, 1, 1));
  EXPECT_EQ(dataset.split("default").at('e' % 3, 0), std::uint8_t(Split::kTest));
}

/// The same graph in both of OGB's forms is the same data set.
TEST_F(FormatsTest, OgbBinaryIsWhatItsTextIs) {
  constexpr Index kVertices = 50, kArcs = 300;
  std::vector<std::int64_t> ends;  // (2, arcs)
  std::vector<float> features, labels;
  std::uint32_t drawn = 1;
  const auto draw = [&](std::uint32_t below) {
    return (drawn = drawn * 1664525u + 1013904223u) / 65536u % below;
  };
  for (Index i = 0; i < 2 * kArcs; ++i) ends.push_back(draw(kVertices));
  for (Index i = 0; i < 3 * kVertices; ++i) features.push_back(float(draw(1000)) / 8);
  for (Index v = 0; v < kVertices; ++v) labels.push_back(v % 3 == 0 ? std::nanf("") : float(draw(4)));
  std::string arc_lines, feature_lines, label_lines;
  for (Index i = 0; i < kArcs; ++i)
    arc_lines += fmt::format("{},{}\n", ends[std::size_t(i)], ends[std::size_t(kArcs + i)]);
  for (std::size_t v = 0; v < std::size_t(kVertices); ++v) {
    feature_lines += fmt::format("{},{},{}\n", features[3 * v], features[3 * v + 1], features[3 * v + 2]);
    label_lines += fmt::format("{}\n", labels[v]);
  }
  write_text(folder_ / "text/raw/num-node-list.csv", "50\n");
  write_text(folder_ / "text/raw/edge.csv", arc_lines);
  write_text(folder_ / "text/raw/node-feat.csv", feature_lines);
  write_text(folder_ / "text/raw/node-label.csv", label_lines);
  std::filesystem::create_directories(folder_ / "papers/raw");
  NpzWriter data(folder_ / "papers/raw/data.npz"), label(folder_ / "papers/raw/node-label.npz");
  const Index of_edges[] = {2, kArcs}, of_features[] = {kVertices, 3}, of_labels[] = {kVertices, 1},
              one[] = {1};
  data.add("edge_index", Dtype::kInt64, of_edges, std::span<const std::int64_t>(ends));
  data.add("node_feat", Dtype::kFloat32, of_features, std::span<const float>(features));
  data.add("num_nodes_list", Dtype::kInt64, one, std::span<const std::int64_t>(&of_labels[0], 1));
  data.finish();
  label.add("node_label", Dtype::kFloat32, of_labels, std::span<const float>(labels));
  label.finish();
  for (const char* set : {"text", "papers"})
    for (const auto& [part, ids] :
         {std::pair("train", "1\n2\n"), std::pair("valid", "4\n"), std::pair("test", "5\n7\n")})
      write_text(folder_ / (std::string(set) + "/split/time/" + part + ".csv.gz"), gzip(ids));
  const auto checksums = import("ogb", "text").meta().checksums;
  EXPECT_EQ(checksums.size(), 5u) << "offsets, columns, features, labels, split";
  EXPECT_EQ(import("ogb", "papers").meta().checksums, checksums);
  EXPECT_EQ(import("ogb", "papers/raw").meta().checksums, checksums);
}

TEST_F(FormatsTest, OgbSeveralLabelColumnsAreTargets) {
  write_text(folder_ / "ogb/num-node-list.csv", "2\n");
  write_text(folder_ / "ogb/edge.csv", "0,1\n");
  write_text(folder_ / "ogb/node-label.csv", "1,0,1\n0,0,0\n");
  const Dataset dataset = import("ogb", "ogb");
  EXPECT_TRUE(dataset.meta().multi_label);
  EXPECT_EQ(dataset.targets().at(0, 2), 1);
}

/// Three vertices in a ring, v + 1 reads from v, with weights.
void write_ring_adjacency(const std::filesystem::path& path, const std::vector<float>& weights) {
  write_csr(path, 3, 3, {0, 1, 2, 3}, {1, 2, 0}, weights);
}

/// The same two arcs, 0 → 1 and 2 → 1, in every format that can hold a directed graph.
TEST_F(FormatsTest, EveryFormatLetsTheSecondReadTheFirst) {
  write_array(folder_ / "n/edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 2, 1}, {2});
  write_text(folder_ / "a.txt", "0 1\n2 1\n");
  write_text(folder_ / "a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 2\n");
  write_text(folder_ / "o/num-node-list.csv", "3\n");
  write_text(folder_ / "o/edge.csv", "0,1\n2,1\n");
  write_csr(folder_ / "s/adj_full.npz", 3, 3, {0, 1, 1, 2}, {1, 1}, {1, 1});
  write_text(folder_ / "s/class_map.json", R"({"0": 0, "1": 0, "2": 0})");
  write_text(folder_ / "s/role.json", R"({"tr": [0], "va": [1], "te": [2]})");
  for (const auto& [format, source] :
       {std::pair("npy", "n"), std::pair("snap", "a.txt"), std::pair("ogb", "o"),
        std::pair("matrixmarket", "a.mtx"), std::pair("graphsaint", "s")}) {
    ImportOptions options;
    options.symmetrise = ImportOptions::Choice::kNo;
    EXPECT_THAT(row(import(format, source, options), 1), ElementsAre(0, 2)) << format;
    options.transpose = true;
    const Dataset turned = import(format, source, options);
    EXPECT_THAT(row(turned, 0), ElementsAre(1)) << format;
    EXPECT_THAT(row(turned, 2), ElementsAre(1)) << format;
    EXPECT_EQ(turned.meta().transforms.back(), "transposed: turned every arc") << format;
  }
}

TEST_F(FormatsTest, GraphSaintKeepsWeightsWhereAsked) {
  write_ring_adjacency(folder_ / "s/adj_full.npz", {0.5f, 2, 4});
  write_text(folder_ / "s/class_map.json", R"({"0": 1, "1": 0, "2": 1})");
  write_text(folder_ / "s/role.json", R"({"tr": [0], "va": [1], "te": [2]})");
  const Dataset dataset = import("graphsaint", "s", weighted());
  EXPECT_THAT(std::vector<float>(dataset.graph().weights, dataset.graph().weights + 3),
              ElementsAre(4, 0.5f, 2));
  EXPECT_THAT(row(dataset, 1), ElementsAre(0));
  EXPECT_THAT(dataset.labels(), ElementsAre(1, 0, 1));
  EXPECT_FALSE(import("graphsaint", "s").meta().weighted);
}

TEST_F(FormatsTest, GraphSaintReadsListsOfClassesInAnyOrderAndScalesOnTrainingRows) {
  write_ring_adjacency(folder_ / "adj_full.npz", {1, 1, 1});
  write_array(folder_ / "feats.npy", Dtype::kFloat64, std::vector<double>{1, 3, 100}, {1});
  write_text(folder_ / "class_map.json.gz", gzip(R"({"2": [1, 0], "0": [0, 1], "1": [1.0, 1]})"));
  write_text(folder_ / "role.json", R"({"te": [2], "tr": [0, 1], "va": []})");
  ImportOptions options;
  options.scaling = FeatureScaling::kTraining;
  options.replace = true;
  import_dataset("graphsaint", folder_.path(), folder_ / "out", options);
  const Dataset dataset = Dataset::open(folder_ / "out");
  EXPECT_EQ(dataset.targets().at(0, 0), 0);
  EXPECT_EQ(dataset.targets().at(2, 0), 1);
  EXPECT_THAT(row(dataset, 0), ElementsAre(2));
  Matrix features(3, 1);
  dataset.read_features(std::vector<VertexId>{0, 1, 2}, features);
  EXPECT_FLOAT_EQ(float(features.at(0, 0)), -1.0f);
  EXPECT_FLOAT_EQ(float(features.at(2, 0)), 98.0f);
}

/// Like CiteSeer: test.index is permuted and leaves out vertex 4, which has no features and no label.
TEST_F(FormatsTest, PlanetoidPutsPermutedTestRowsInPlaceAndLeavesIsolatedVerticesEmpty) {
  using namespace tiny_pickle;  // NOLINT
  const auto part = [&](const char* name) { return folder_ / ("p/ind.tiny." + std::string(name)); };
  write_text(part("x"), whole(csr(1, 4, {0, 1}, {0})));
  write_text(part("allx"), whole(csr(3, 4, {0, 1, 2, 2}, {0, 1})));
  write_text(part("tx"), whole(csr(2, 4, {0, 1, 2}, {2, 3})));
  write_text(part("y"), whole(array("i4", {1, 2}, std::vector<std::int32_t>{1, 0})));
  write_text(part("ally"), whole(array("i4", {3, 2}, std::vector<std::int32_t>{1, 0, 0, 1, 0, 0})));
  write_text(part("ty"), whole(array("i4", {2, 2}, std::vector<std::int32_t>{0, 1, 1, 0})));
  write_text(part("graph"), whole(graph({{1, 1}, {0}, {5}, {0}, {}, {2}})));
  write_text(part("test.index"), "5\n3\n");
  const Dataset dataset = import("planetoid", "p");
  EXPECT_EQ(dataset.meta().vertices, 6);
  EXPECT_THAT(dataset.labels(), ElementsAre(0, 1, -1, 0, -1, 1));
  Matrix features(6, 4);
  dataset.read_features(std::vector<VertexId>{0, 1, 2, 3, 4, 5}, features);
  EXPECT_EQ(features.at(5, 2), Real(1));
  EXPECT_EQ(features.at(3, 3), Real(1));
  for (Index c = 0; c < 4; ++c) EXPECT_EQ(features.at(4, c), Real(0));
  const auto split = dataset.split("default");
  EXPECT_THAT(std::vector<int>(split.data, split.data + 6), ElementsAre(1, 2, 2, 3, 0, 3));
  EXPECT_TRUE(dataset.meta().symmetric);
}

}  // namespace
}  // namespace atl
