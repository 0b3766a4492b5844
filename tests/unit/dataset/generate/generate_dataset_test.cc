// A generated data set on disk is the graph in memory, and the same files on any number of threads.
#include "dataset/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace atl {
namespace {

namespace fs = std::filesystem;

class GenerateDataset : public testing::Test {
 protected:
  GenerateDataset()
      : root_(fs::path(testing::TempDir()) / ("atoll_generate_dataset_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~GenerateDataset() override { fs::remove_all(root_); }

  static CommunitySpec spec() {
    CommunitySpec s;
    s.name = "tiny";
    s.vertices = 3000, s.average_degree = 12, s.features = 20, s.classes = 5;
    return s;
  }
  DatasetMeta write(const std::string& name, const CommunitySpec& s, int threads, bool float16 = false) {
    return generate_dataset(s, root_ / name, {false, float16, threads, {}});
  }

  fs::path root_;
};

TEST_F(GenerateDataset, IsTheGraphInMemory) {
  const DatasetMeta meta = write("one", spec(), 2);
  EXPECT_EQ(meta.vertices, 3000);
  EXPECT_EQ(meta.arcs, 3000 * 12);
  EXPECT_TRUE(meta.symmetric);
  EXPECT_EQ(meta.self_loops, 0);
  EXPECT_EQ(meta.classes, 5);
  EXPECT_THAT(meta.source, testing::HasSubstr("seed 1"));
  const Dataset stored = Dataset::open(root_ / "one");
  const CommunityGraph graph(spec());
  ThreadPool pool(2);
  const Csr arcs = graph.arcs(pool);
  EXPECT_TRUE(std::equal(arcs.offsets.begin(), arcs.offsets.end(), stored.graph().offsets));
  EXPECT_TRUE(std::equal(arcs.columns.begin(), arcs.columns.end(), stored.graph().columns));
  const View<const std::uint8_t> split = stored.split("default");
  std::vector<float> row(20);
  Matrix read(1, 20);
  for (VertexId v = 0; v < 3000; v += 7) {
    EXPECT_EQ(stored.labels()[std::size_t(v)], graph.label(v));
    EXPECT_EQ(split.at(v, 0), std::uint8_t(graph.split(v)));
    graph.features(v, row);
    stored.read_features({&v, 1}, read);
    for (Index f = 0; f < 20; ++f) EXPECT_EQ(float(read.at(0, f)), row[std::size_t(f)]);
  }
}

TEST_F(GenerateDataset, HasTheSameChecksumOnAnyNumberOfThreads) {
  const std::string one = write("one", spec(), 1).checksum;
  EXPECT_EQ(write("three", spec(), 3).checksum, one);
  CommunitySpec other = spec();
  other.seed = 2;
  EXPECT_NE(write("other", other, 1).checksum, one);
}

TEST_F(GenerateDataset, HoldsSeveralLabelsAndHalfFeatures) {
  CommunitySpec s = spec();
  s.multi_label = true, s.classes = 12;
  const DatasetMeta meta = write("many", s, 2, true);
  EXPECT_TRUE(meta.multi_label);
  const Dataset stored = Dataset::open(root_ / "many");
  const CommunityGraph graph(s);
  std::vector<std::uint8_t> row(12);
  for (VertexId v = 0; v < 3000; v += 11) {
    graph.targets(v, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), stored.targets().row(v)));
  }
  EXPECT_LT(fs::file_size(root_ / "many" / "features.npy"), 3000u * 20u * 2u + 1000u);
}

TEST_F(GenerateDataset, LeavesNothingBehindWhereItCannotBe) {
  CommunitySpec s = spec();
  s.classes = 1;
  EXPECT_THROW(write("bad", s, 1), Error);
  EXPECT_TRUE(fs::is_empty(root_));
}

}  // namespace
}  // namespace atl
