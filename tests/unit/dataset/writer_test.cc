// The writer's treatment of arcs, features and labels.
#include "dataset/writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using Arcs = std::vector<std::pair<VertexId, VertexId>>;  // (source, destination)

void add(DatasetWriter& writer, const Arcs& arcs, const std::vector<float>& weights = {}) {
  std::vector<VertexId> src, dst;
  for (const auto& [s, d] : arcs) {
    src.push_back(s);
    dst.push_back(d);
  }
  writer.add_arcs(src, dst, weights, {"arcs"});
}

std::vector<VertexId> row(const Dataset& dataset, Index v) {
  const auto found = dataset.graph().row(v);
  return {found.begin(), found.end()};
}

TEST(Writer, RowsHoldTheSourcesOfEachDestination) {
  TemporaryFolder folder;
  DatasetWriter writer(folder / "d", {});
  add(writer, {{2, 0}, {1, 0}, {2, 0}, {0, 2}, {1, 1}});
  const DatasetMeta meta = writer.finish();
  const Dataset dataset = Dataset::open(folder / "d");
  EXPECT_EQ(meta.vertices, 3);
  EXPECT_EQ(meta.arcs, 4);
  EXPECT_EQ(meta.self_loops, 1);
  EXPECT_FALSE(meta.symmetric);
  EXPECT_EQ(meta.transforms, std::vector<std::string>{"removed 1 duplicates of 5 arcs"});
  EXPECT_EQ(row(dataset, 0), (std::vector<VertexId>{1, 2}));
  EXPECT_EQ(row(dataset, 1), (std::vector<VertexId>{1}));
  EXPECT_EQ(row(dataset, 2), (std::vector<VertexId>{0}));
}

TEST(Writer, SymmetrisesAndRemovesSelfLoops) {
  TemporaryFolder folder;
  WriterOptions options;
  options.symmetrise = options.remove_self_loops = true;
  DatasetWriter writer(folder / "d", options);
  writer.set_vertices(4);
  add(writer, {{0, 1}, {1, 0}, {1, 2}, {2, 2}});
  const DatasetMeta meta = writer.finish();
  const Dataset dataset = Dataset::open(folder / "d");
  EXPECT_EQ(meta.arcs, 4);
  EXPECT_TRUE(meta.symmetric);
  EXPECT_EQ(meta.transforms[0], "removed 1 self-loops");
  EXPECT_EQ(meta.transforms[1], "removed 0 duplicates of 4 arcs");
  EXPECT_EQ(row(dataset, 1), (std::vector<VertexId>{0, 2}));
  EXPECT_EQ(row(dataset, 3), (std::vector<VertexId>{}));
}

TEST(Writer, WeightsOfDuplicatesAddUpAndOfReversesDoNot) {
  TemporaryFolder folder;
  WriterOptions options;
  options.weighted = options.symmetrise = true;
  DatasetWriter writer(folder / "d", options);
  add(writer, {{0, 1}, {0, 1}, {1, 0}, {1, 2}}, {1, 2, 2.5, 7});
  writer.finish();
  const Dataset dataset = Dataset::open(folder / "d");
  const CsrView graph = dataset.graph();
  EXPECT_EQ(std::vector<float>(graph.weights, graph.weights + 4), (std::vector<float>{3, 3, 7, 7}));
}

/// Against a std::map, over a range of ids wide enough for several buckets.
TEST(Writer, SortsAcrossBuckets) {
  TemporaryFolder folder;
  constexpr Index kVertices = 9'000'000;
  const Draws draws(1, Purpose::kGenerator);
  Arcs arcs;
  std::map<VertexId, std::vector<VertexId>> expected;
  for (Index i = 0; i < 20'000; ++i) {
    const auto draw = [&](Index column) {
      return VertexId(draws.uniform_at(std::uint64_t(i), std::uint64_t(column)) * kVertices);
    };
    arcs.emplace_back(draw(0), draw(1));
    expected[arcs.back().second].push_back(arcs.back().first);
  }
  std::string checksum;
  for (int threads : {1, 3}) {
    WriterOptions options;
    options.threads = threads;
    options.replace = true;
    DatasetWriter writer(folder / "d", options);
    writer.set_vertices(kVertices);
    add(writer, arcs);
    const DatasetMeta meta = writer.finish();
    if (checksum.empty()) checksum = meta.checksum;
    EXPECT_EQ(meta.checksum, checksum) << threads;
  }
  const Dataset dataset = Dataset::open(folder / "d");
  Index found = 0;
  for (auto& [v, sources] : expected) {
    std::sort(sources.begin(), sources.end());
    EXPECT_EQ(row(dataset, v), sources);
    found += Index(sources.size());
  }
  EXPECT_EQ(dataset.graph().arcs(), found);
}

Matrix features_of(const std::filesystem::path& path, Index vertices) {
  const Dataset dataset = Dataset::open(path);
  std::vector<VertexId> ids;
  for (Index v = 0; v < vertices; ++v) ids.push_back(VertexId(v));
  Matrix out(vertices, dataset.meta().features);
  dataset.read_features(ids, out);
  return out;
}

TEST(Writer, KeepsFeaturesSparseBelowAQuarter) {
  TemporaryFolder folder;
  const std::vector<float> mostly_zero{0, 0, 3, 0, 0, 0, 0, 0, 0, 0},
      mostly_not{1, 2, 0, 4, 5, 6, 7, 8, 9, 10};
  for (const auto& [values, nonzeros] : {std::pair(mostly_zero, 1), std::pair(mostly_not, -1)}) {
    for (bool given_sparse : {false, true}) {
      WriterOptions options;
      options.replace = true;
      DatasetWriter writer(folder / "d", options);
      add(writer, {{0, 1}});
      writer.begin_features(5);
      if (given_sparse) {
        Csr rows{2, 5, {0, 5, 10}, {4, 3, 2, 1, 0, 0, 1, 2, 3, 4}, {}};
        for (std::size_t i = 0; i < 10; ++i) rows.weights.push_back(values[i < 5 ? 4 - i : i]);
        writer.add_sparse_features(rows.view(), {"x"});
      } else {
        writer.add_features({values.data(), 2, 5}, {"x"});
      }
      EXPECT_EQ(writer.finish().feature_nonzeros, nonzeros);
      const Matrix read = features_of(folder / "d", 2);
      for (Index i = 0; i < 10; ++i) EXPECT_EQ(read.at(i / 5, i % 5), Real(values[std::size_t(i)]));
    }
  }
}

TEST(Writer, KeepsFeaturesOfOneValueARowAsBits) {
  constexpr Index kColumns = 70;
  const auto row = [](float level) {
    std::vector<float> values(kColumns, level);
    for (std::size_t c = 0; c < kColumns; c += 3) values[c] = 0;
    return values;
  };
  std::vector<float> one_valued = row(2), other = row(2);
  for (const float level : {-0.5f, 0.0f}) {
    for (const float value : row(level)) one_valued.push_back(value), other.push_back(value);
  }
  other[4] = 3;
  for (const auto& [values, form] :
       {std::pair(one_valued, FeatureForm::kBits), std::pair(other, FeatureForm::kDense)}) {
    TemporaryFolder folder;
    DatasetWriter writer(folder / "d", {});
    add(writer, {{0, 1}, {1, 2}});
    writer.begin_features(kColumns);
    writer.add_features({values.data(), 3, kColumns}, {"x"});
    const DatasetMeta meta = writer.finish();
    EXPECT_EQ(meta.feature_form, form);
    EXPECT_EQ(meta.feature_nonzeros, form == FeatureForm::kBits ? 2 * 46 : -1);
    const Matrix read = features_of(folder / "d", 3);
    for (Index i = 0; i < 3 * kColumns; ++i)
      EXPECT_EQ(read.at(i / kColumns, i % kColumns), Real(values[std::size_t(i)])) << i;
  }
}

TEST(Writer, ScalesFeatures) {
  TemporaryFolder folder;
  const std::vector<float> values{1, 3, 0, 0, 5, -5, 9, 1};
  const std::vector<std::uint8_t> split{1, 1, 1, 3};
  const auto write = [&](FeatureScaling scaling) {
    WriterOptions options;
    options.replace = true;
    options.scaling = scaling;
    DatasetWriter writer(folder / "d", options);
    add(writer, {{0, 3}});
    writer.begin_features(2);
    writer.add_features({values.data(), 4, 2}, {"x"});
    writer.add_split("default", {split.data(), 4, 1}, "split");
    writer.finish();
    return features_of(folder / "d", 4);
  };
  const Matrix rows = write(FeatureScaling::kRow);
  EXPECT_FLOAT_EQ(float(rows.at(0, 1)), 0.75f);
  EXPECT_FLOAT_EQ(float(rows.at(1, 0)), 0.0f);
  EXPECT_FLOAT_EQ(float(rows.at(2, 1)), -0.5f);
  const Matrix training = write(FeatureScaling::kTraining);
  double sum = 0, squares = 0;
  for (Index v = 0; v < 3; ++v) {
    sum += double(training.at(v, 0));
    squares += double(training.at(v, 0) * training.at(v, 0));
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_NEAR(squares / 3, 1, 1e-6);
  EXPECT_NEAR(double(training.at(3, 0)), (9 - 2) / std::sqrt(14.0 / 3), 1e-5);
}

TEST(Writer, Float16HalvesTheFile) {
  TemporaryFolder folder;
  WriterOptions options;
  options.float16 = true;
  DatasetWriter writer(folder / "d", options);
  add(writer, {{0, 1}});
  writer.begin_features(2);
  const std::vector<float> values{0.1f, 1, 2, 3};
  writer.add_features({values.data(), 2, 2}, {"x"});
  writer.finish();
  EXPECT_EQ(std::filesystem::file_size(folder / "d" / "features.npy"), 128u + 8u);
  EXPECT_NEAR(double(features_of(folder / "d", 2).at(0, 0)), 0.1, 1e-4);
}

/// tests/e2e/dataset_memory compares with what a whole import uses.
TEST(Writer, AnnouncesWhatTheProcessHoldsAndWhatSortingNeeds) {
  TemporaryFolder folder;
  std::vector<std::string> lines;
  WriterOptions options;
  options.progress = [&](const std::string& line) { lines.push_back(line); };
  DatasetWriter writer(folder / "d", options);
  constexpr Index kArcs = 1 << 20;
  for (Index i = 0; i < kArcs; i += 2)
    add(writer, {{VertexId(i), VertexId(i + 1)}, {VertexId(i + 1), VertexId(i)}});
  const std::int64_t held = process_memory().resident_bytes;
  writer.finish();
  ASSERT_EQ(lines.size(), 1u);
  const std::string words = "peak memory about ";
  ASSERT_NE(lines[0].find(words), std::string::npos);
  const double announced = std::stod(lines[0].substr(lines[0].find(words) + words.size())) * (1 << 20);
  EXPECT_GE(announced, double(held + kArcs * 2 * 8));  // sorting needs each arc twice
}

TEST(Writer, LeavesNothingUnlessFinished) {
  TemporaryFolder folder;
  {
    DatasetWriter writer(folder / "d", {});
    add(writer, {{0, 1}});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Writer, UnknownSplitListsTheKnown) {
  TemporaryFolder folder;
  DatasetWriter writer(folder / "d", {});
  add(writer, {{0, 1}});
  const std::vector<std::uint8_t> split{1, 2};
  writer.add_split("mine", {split.data(), 2, 1}, "split");
  writer.finish();
  try {
    Dataset::open(folder / "d").split("default");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("mine (1 column)"), std::string::npos);
  }
}

}  // namespace
}  // namespace atl
