// Edge splits: refused ones, edges left out of training, and drawn edges. No held-out edge is ever an arc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "dataset/export.h"
#include "dataset/format/npz.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"
#include "dataset/splits.h"

namespace atl {
namespace {

using testing::HasSubstr;
using Pairs = std::vector<VertexPair>;

EdgeSplit split_of(Pairs train, Pairs validation, Pairs test, Pairs validation_negative,
                   Pairs test_negative) {
  return {{std::move(train), std::move(validation), std::move(test), std::move(validation_negative),
           std::move(test_negative)}};
}

EdgeSplit good() {
  return split_of({{0, 1}, {1, 2}, {2, 3}}, {{3, 4}}, {{0, 4}}, {{0, 2}}, {{1, 3}});
}

std::string refusal(EdgeSplit split, bool undirected = true) {
  try {
    check_edge_split(split, 5, undirected, "edge_split.npz");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EdgeSplit, OfGoodPairsIsTaken) {
  EdgeSplit split = good();
  const LeftOut left = check_edge_split(split, 5, true, "edge_split.npz");
  EXPECT_EQ(left.again + left.held_out, 0);
  EXPECT_EQ(split.pairs, good().pairs);
}

TEST(EdgeSplit, ThatOverlapsOrIsOutOfRangeIsRefused) {
  EdgeSplit split = good();
  split.of(PairSet::kTest) = {{1, 2}};
  EXPECT_THAT(refusal(split),
              HasSubstr("(1, 2) is in the training edges (train_pos) and in the test edges (test_pos)"));
  split = good();
  split.of(PairSet::kValidationNegative) = {{3, 4}};
  EXPECT_THAT(
      refusal(split),
      HasSubstr(
          "(3, 4) is in the validation edges (val_pos) and in the validation's negative pairs (val_neg)"));
  split = good();
  split.of(PairSet::kTrain).push_back({0, 1});
  EXPECT_THAT(refusal(split), HasSubstr("(0, 1) is in the training edges (train_pos) twice"));
  split = good();
  split.of(PairSet::kValidation) = {{3, 5}};
  EXPECT_THAT(refusal(split),
              HasSubstr("validation edges (val_pos), row 0: 5 is no vertex; allowed are ids 0 … 4"));
  split = good();
  split.of(PairSet::kTrain).push_back({2, 2});
  EXPECT_THAT(refusal(split), HasSubstr("(2, 2) joins a vertex to itself"));
  split = good();
  split.of(PairSet::kTestNegative).clear();
  EXPECT_THAT(refusal(split), HasSubstr("1 test edges (test_pos) and 0 test's negative pairs (test_neg)"));
  split = good();
  split.of(PairSet::kTrain).clear();
  EXPECT_THAT(refusal(split), HasSubstr("no training edge"));
}

TEST(EdgeSplit, LeavesOutTrainingEdgesThatWouldTellHeldOutOnes) {
  EdgeSplit split = good();
  split.of(PairSet::kTrain).push_back({4, 3});  // the reverse of a validation edge
  split.of(PairSet::kTrain).push_back({2, 1});  // of a training edge
  const EdgeSplit given = split;
  const LeftOut left = check_edge_split(split, 5, true, "edge_split.npz");
  EXPECT_EQ(left.held_out, 1);
  EXPECT_EQ(left.again, 1);
  EXPECT_EQ(split.of(PairSet::kTrain), good().of(PairSet::kTrain));
  split = given;
  EXPECT_EQ(check_edge_split(split, 5, false, "edge_split.npz").held_out, 0)
      << "of directed edges it is another";
}

/// Of a pair that is there in both directions one is kept, wherever the other one is.
TEST(EdgeSplit, LeavesOutReversesAmongHeldOutEdgesAndNegativePairs) {
  EdgeSplit split = good();
  split.of(PairSet::kValidation).push_back({4, 0});          // the reverse of a test edge
  split.of(PairSet::kValidation).push_back({4, 3});          // of a validation edge
  split.of(PairSet::kValidationNegative).push_back({3, 1});  // of one of test's negative pairs
  split.of(PairSet::kTestNegative).push_back({2, 1});        // of a training edge
  split.of(PairSet::kTestNegative).push_back({4, 2});
  split.of(PairSet::kTestNegative).push_back({2, 4});  // of the one before
  const EdgeSplit given = split;
  const LeftOut left = check_edge_split(split, 5, true, "edge_split.npz");
  EXPECT_EQ(left.measured, 2);
  EXPECT_EQ(left.negatives, 3);
  EXPECT_EQ(left.again + left.held_out, 0);
  EdgeSplit expected = good();
  expected.of(PairSet::kTestNegative).push_back({2, 4});
  EXPECT_EQ(split.pairs, expected.pairs);
  split = given;
  EXPECT_EQ(check_edge_split(split, 5, false, "edge_split.npz").all(), 0) << "directed edges are others";
}

/// A ring with chords, both ways.
Pairs ring(VertexId vertices) {
  Pairs arcs;
  for (VertexId v = 0; v < vertices; ++v)
    for (const VertexId step : {1, 5}) {
      const auto to = VertexId((v + step) % vertices);
      arcs.push_back({v, to}), arcs.push_back({to, v});
    }
  return arcs;
}

TEST(DrawnEdges, AreAllEdgesOnceAndNegativesAreNone) {
  const DrawnEdges drawn = draw_edges(ring(200), 200, false, {0.8, 0.1, 0.1, 1}, "ring");
  EXPECT_TRUE(drawn.undirected);
  std::set<VertexPair> edges;
  for (const PairSet set : {PairSet::kTrain, PairSet::kValidation, PairSet::kTest})
    for (const VertexPair& edge : drawn.split.of(set)) EXPECT_TRUE(edges.insert(edge).second);
  EXPECT_EQ(edges.size(), 400u);
  EXPECT_NEAR(double(drawn.split.of(PairSet::kTrain).size()), 320, 40);
  for (const auto& [set, like] : {std::pair(PairSet::kValidationNegative, PairSet::kValidation),
                                  std::pair(PairSet::kTestNegative, PairSet::kTest)}) {
    EXPECT_EQ(drawn.split.of(set).size(), drawn.split.of(like).size());
    for (const auto& [a, b] : drawn.split.of(set)) {
      EXPECT_NE(a, b);
      EXPECT_FALSE(edges.contains({std::min(a, b), std::max(a, b)}));
    }
  }
  EdgeSplit again = drawn.split;
  EXPECT_EQ(check_edge_split(again, 200, true, "ring").again, 0);
}

TEST(DrawnEdges, DependOnTheSeedAlone) {
  Pairs turned = ring(50);
  std::ranges::reverse(turned);
  const DrawnEdgeSplit spec{0.8, 0.1, 0.1, 1};
  EXPECT_EQ(draw_edges(ring(50), 50, false, spec, "").split.pairs,
            draw_edges(turned, 50, true, spec, "").split.pairs);
  EXPECT_NE(draw_edges(ring(50), 50, false, spec, "").split.pairs,
            draw_edges(ring(50), 50, false, {0.8, 0.1, 0.1, 2}, "").split.pairs);
}

/// Of hundreds of thousands of pairs each was once put into its place among all earlier ones: hours for the
/// edges of a large graph.
TEST(DrawnEdges, TakeSecondsForALargeGraph) {
  constexpr VertexId kVertices = 700'000;
  const std::clock_t begin = std::clock();
  const DrawnEdges drawn = draw_edges(ring(kVertices), kVertices, false, {0.4, 0.3, 0.3, 1}, "large");
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 60);
  Pairs negatives = drawn.split.of(PairSet::kValidationNegative);
  const Pairs& more = drawn.split.of(PairSet::kTestNegative);
  negatives.insert(negatives.end(), more.begin(), more.end());
  EXPECT_NEAR(double(negatives.size()), 0.6 * 2 * kVertices, 5000);
  for (VertexPair& pair : negatives) std::ranges::sort(pair);
  std::ranges::sort(negatives);
  EXPECT_TRUE(std::ranges::adjacent_find(negatives) == negatives.end()) << "each pair once";
}

TEST(DrawnEdges, OfAGraphTooSmallOrTooDenseAreRefused) {
  const auto refused = [](Pairs arcs, Index vertices, const DrawnEdgeSplit& spec) -> std::string {
    try {
      draw_edges(std::move(arcs), vertices, false, spec, "small");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refused({{0, 1}, {1, 0}}, 9, {0.8, 0.1, 0.1, 1}),
              HasSubstr("none of 1 edges is drawn as one of the"));
  EXPECT_THAT(refused({{3, 3}}, 9, {0.8, 0.1, 0.1, 1}), HasSubstr("there are no edges but self-loops"));
  Pairs all;
  for (VertexId a = 0; a < 20; ++a)
    for (VertexId b = 0; b < 20; ++b)
      if (a != b) all.push_back({a, b});
  EXPECT_THAT(refused(all, 20, {0.4, 0.3, 0.3, 1}), HasSubstr("negative pairs are wanted"));
  for (const char* text :
       {"85/5/10", "random:85/5", "random:85/5/5", "random:85/5/10x", "random:50/60/-10", "random:nan/5/10"})
    EXPECT_THAT([&] { parse_edge_split(text, 1); }, testing::ThrowsMessage<Error>(HasSubstr("100 together")))
        << text;
  EXPECT_THROW(parse_edge_split("random:85/nan/10", 1), Error);
  EXPECT_THAT([] { parse_edge_split("random:0/50/50", 1); },
              testing::ThrowsMessage<Error>(HasSubstr("'random:0/50/50' leaves no edge to train on")));
  EXPECT_THAT([] { parse_edge_split("random:100/0/0", 1); },
              testing::ThrowsMessage<Error>(HasSubstr("'random:100/0/0' holds out no edge")));
}

void write_folder(const std::filesystem::path& folder) {
  write_array(folder / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2, 2, 3, 3, 4, 0, 4},
              {2});
  write_text(folder / "meta.json", R"({"num_nodes": 5, "num_edges": 5, "directed": false})");
  NpzWriter archive(folder / "edge_split.npz");
  const char* names[] = {"train_pos", "val_pos", "test_pos", "val_neg", "test_neg"};
  for (int s = 0; s < kPairSets; ++s) {
    const Pairs pairs = good().pairs[std::size_t(s)];
    const Index shape[] = {Index(pairs.size()), 2};
    archive.add(names[s], Dtype::kInt32, shape,
                std::span<const VertexId>(pairs.front().data(), 2 * pairs.size()));
  }
  archive.finish();
}

std::set<VertexPair> arcs_of(const Dataset& dataset) {
  std::set<VertexPair> arcs;
  for (Index v = 0; v < dataset.meta().vertices; ++v)
    for (const VertexId source : dataset.graph().row(v)) arcs.insert({source, VertexId(v)});
  return arcs;
}

TEST(ImportedEdgeSplit, MakesTheGraphOfTrainingEdgesBothWays) {
  TemporaryFolder folder;
  write_folder(folder / "in");
  ImportOptions options;
  options.made_features = MadeFeatures{};
  options.given_edges = true;
  import_dataset("npy", folder / "in", folder / "out", options);
  const Dataset dataset = Dataset::open(folder / "out");
  EXPECT_EQ(arcs_of(dataset), (std::set<VertexPair>{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}));
  EXPECT_EQ(dataset.meta().pairs.supervised, 3);
  EXPECT_EQ(dataset.pairs(PairSet::kTest).at(0, 1), 4);
  EXPECT_EQ(dataset.meta().features, 5) << "one-hot";
  Matrix row(1, 5);
  const VertexId three = 3;
  dataset.read_features(std::span(&three, 1), row);
  EXPECT_EQ(row.at(0, 3), 1);
  EXPECT_EQ(row.at(0, 2), 0);
  export_dataset(dataset, folder / "back", false);
  options.made_features.reset();
  import_dataset("npy", folder / "back", folder / "again", options);
  const Dataset again = Dataset::open(folder / "again");
  EXPECT_EQ(again.meta().pairs, dataset.meta().pairs);
  EXPECT_EQ(arcs_of(again), arcs_of(dataset));
}

/// Its pairs are the graph; edges.npy isn't read, and so needn't be there.
TEST(ImportedEdgeSplit, NeedsNoEdges) {
  TemporaryFolder folder;
  write_folder(folder / "in");
  ImportOptions options;
  options.replace = true;
  options.given_edges = true;
  const auto checksums = import_dataset("npy", folder / "in", folder / "out", options).checksums;
  std::filesystem::remove(folder / "in" / "edges.npy");
  EXPECT_EQ(import_dataset("npy", folder / "in", folder / "out", options).checksums, checksums);
  options.given_edges = false;
  EXPECT_THAT([&] { import_dataset("npy", folder / "in", folder / "out", options); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(HasSubstr("has no edges.npy"), HasSubstr("add --edge-split given"))));
}

TEST(ImportedEdgeSplit, WithDisjointSupervisionTrainsOnNoArc) {
  TemporaryFolder folder;
  write_array(folder / "in" / "edges.npy", Dtype::kInt32,
              [] {
                std::vector<std::int32_t> flat;
                for (const VertexPair& arc : ring(60)) flat.insert(flat.end(), {arc[0], arc[1]});
                return flat;
              }(),
              {2});
  ImportOptions options;
  options.edge_split = DrawnEdgeSplit{0.8, 0.1, 0.1, 1};
  options.disjoint = 0.3;
  import_dataset("npy", folder / "in", folder / "out", options);
  const Dataset dataset = Dataset::open(folder / "out");
  const std::set<VertexPair> arcs = arcs_of(dataset);
  const View<const VertexId> training = dataset.pairs(PairSet::kTrain);
  EXPECT_NEAR(double(dataset.meta().pairs.supervised) / double(training.rows), 0.3, 0.12);
  for (Index i = 0; i < training.rows; ++i)
    EXPECT_EQ(arcs.contains({training.at(i, 0), training.at(i, 1)}), i >= dataset.meta().pairs.supervised);
  for (const PairSet set : {PairSet::kValidation, PairSet::kTest})
    for (Index i = 0; i < dataset.pairs(set).rows; ++i)
      for (const int end : {0, 1})
        EXPECT_FALSE(arcs.contains({dataset.pairs(set).at(i, end), dataset.pairs(set).at(i, 1 - end)}));
}

TEST(MadeFeatures, OfAnythingElseAreRefused) {
  for (const char* text : {"", "onehot", "random:0", "random:-3", "random:70000", "random:8x"})
    EXPECT_THROW(parse_made_features(text, 1), Error) << text;
  EXPECT_EQ(parse_made_features("random:8", 1).columns(100), 8);
}

}  // namespace
}  // namespace atl
