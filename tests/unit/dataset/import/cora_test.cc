// Cora, the data set that is always available: imported, opened, read, exported, imported again.
#include <gtest/gtest.h>

#include <numeric>

#include "dataset/dataset.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

class CoraTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  DatasetMeta meta_ = import_dataset("npy", kCora, folder_ / "cora", {});
  Dataset cora_ = Dataset::open(folder_ / "cora");
};

TEST_F(CoraTest, HasThePublishedCounts) {
  EXPECT_EQ(meta_.name, "cora");
  EXPECT_EQ(meta_.vertices, 2708);
  EXPECT_EQ(meta_.arcs, 10556);
  EXPECT_EQ(meta_.features, 1433);
  EXPECT_EQ(meta_.feature_nonzeros, 49216);
  EXPECT_EQ(meta_.classes, 7);
  EXPECT_TRUE(meta_.symmetric);
  EXPECT_EQ(meta_.self_loops, 0);
  EXPECT_EQ(meta_.splits, (std::map<std::string, int>{{"default", 1}, {"geom_gcn", 10}}));
  EXPECT_EQ(cora_.meta().checksum, meta_.checksum);
}

TEST_F(CoraTest, SplitsHaveTheirSizes) {
  const auto count = [](View<const std::uint8_t> split, Index column, Split part) {
    Index found = 0;
    for (Index v = 0; v < split.rows; ++v) found += split.at(v, column) == std::uint8_t(part);
    return found;
  };
  EXPECT_EQ(count(cora_.split("default"), 0, Split::kTrain), 140);
  EXPECT_EQ(count(cora_.split("default"), 0, Split::kValidation), 500);
  EXPECT_EQ(count(cora_.split("default"), 0, Split::kTest), 1000);
  EXPECT_EQ(count(cora_.split("geom_gcn"), 9, Split::kTrain), 1192);
  EXPECT_EQ(count(cora_.split("geom_gcn"), 9, Split::kTest), 497);
}

TEST_F(CoraTest, RowsAreSortedAndSymmetric) {
  const CsrView graph = cora_.graph();
  for (Index v = 0; v < graph.rows; ++v) {
    const auto row = graph.row(v);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
    for (VertexId u : row) {
      const auto back = graph.row(u);
      EXPECT_TRUE(std::binary_search(back.begin(), back.end(), VertexId(v)));
    }
  }
}

TEST_F(CoraTest, SparseAndDenseReadsAgree) {
  std::vector<VertexId> ids{2707, 0, 5, 5};
  const Csr sparse = cora_.read_sparse_features(ids);
  Matrix dense(4, 1433);
  cora_.read_features(ids, dense);
  for (Index r = 0; r < 4; ++r) {
    const double sum = std::accumulate(dense.view().row(r), dense.view().row(r) + 1433, 0.0);
    EXPECT_EQ(sum, double(sparse.view().degree(r)));  // all values are 1
    for (VertexId column : sparse.view().row(r)) EXPECT_EQ(dense.at(r, column), Real(1));
  }
}

TEST_F(CoraTest, VerifyFindsAFlippedByte) {
  cora_.verify();
  std::fstream file(folder_ / "cora" / "labels.npy", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(200);
  file.put('\x05');
  file.close();
  EXPECT_THROW(Dataset::open(folder_ / "cora").verify(), Error);
}

TEST_F(CoraTest, ThreadsDoNotChangeTheBytes) {
  for (int threads : {1, 3}) {
    ImportOptions options;
    options.threads = threads;
    options.name = "cora";
    EXPECT_EQ(import_dataset("npy", kCora, folder_ / ("t" + std::to_string(threads)), options).checksum,
              meta_.checksum);
  }
}

}  // namespace
}  // namespace atl
