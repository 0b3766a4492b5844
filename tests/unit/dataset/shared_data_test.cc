// Real data sets in their original formats against the same ones in the neutral layout, and against the
// counts that their publications state.
#include <gtest/gtest.h>

#include "dataset/dataset.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

struct Counts {
  const char* name;
  Index vertices, arcs, features;
  int classes;
  std::size_t splits;
};

class NeutralData : public ::testing::TestWithParam<Counts> {};

TEST_P(NeutralData, HasItsCounts) {
  const Counts& counts = GetParam();
  ATOLL_NEEDS_SHARED(counts.name);
  TemporaryFolder folder;
  const DatasetMeta meta = import_dataset("npy", kShared / counts.name, folder / "set", {});
  EXPECT_EQ(meta.vertices, counts.vertices);
  EXPECT_EQ(meta.arcs, counts.arcs);
  EXPECT_EQ(meta.features, counts.features);
  EXPECT_EQ(meta.classes, counts.classes);
  EXPECT_EQ(meta.splits.size(), counts.splits);
  EXPECT_TRUE(meta.symmetric);
  Dataset::open(folder / "set");
}

INSTANTIATE_TEST_SUITE_P(All, NeutralData,
                         ::testing::Values(Counts{"tolokers", 11758, 1038000, 10, 2, 1},
                                           Counts{"amazon_computers", 13752, 491722, 767, 10, 1},
                                           Counts{"ogbn_arxiv", 169343, 2315598, 64, 40, 2},
                                           Counts{"fb_nyu", 18713, 1190166, 5079, 8, 1},
                                           Counts{"lp_usair", 332, 4252, 0, 0, 0}),
                         [](const auto& param) { return std::string(param.param.name); });

/// The files that two imports have in common hold the same bytes.
void expect_same(const DatasetMeta& a, const DatasetMeta& b, std::initializer_list<const char*> files) {
  for (const char* file : files) EXPECT_EQ(a.checksums.at(file), b.checksums.at(file)) << file;
}

TEST(RawData, PlanetoidGivesTheSameCora) {
  ATOLL_NEEDS_SHARED("raw/planetoid_cora");
  TemporaryFolder folder;
  const DatasetMeta neutral = import_dataset("npy", kCora, folder / "neutral", {});
  const DatasetMeta raw = import_dataset("planetoid", kShared / "raw/planetoid_cora", folder / "raw", {});
  expect_same(raw, neutral,
              {"offsets.npy", "columns.npy", "feature_offsets.npy", "feature_columns.npy",
               "feature_values.npy", "labels.npy", "split_default.npy", "split_geom_gcn.npy"});
}

TEST(RawData, GraphSaintGivesTheSameArxiv) {
  ATOLL_NEEDS_SHARED("raw/graphsaint_ogbn_arxiv");
  ATOLL_NEEDS_SHARED("ogbn_arxiv");
  TemporaryFolder folder;
  ImportOptions options;
  options.symmetrise = ImportOptions::Choice::kYes;
  const DatasetMeta neutral = import_dataset("npy", kShared / "ogbn_arxiv", folder / "neutral", {});
  const DatasetMeta raw =
      import_dataset("graphsaint", kShared / "raw/graphsaint_ogbn_arxiv", folder / "raw", options);
  expect_same(raw, neutral, {"offsets.npy", "columns.npy", "labels.npy", "split_default.npy"});
}

TEST(RawData, SnapAndOgbGiveTheSameGraphs) {
  ATOLL_NEEDS_SHARED("raw/snap_wiki_vote");
  ATOLL_NEEDS_SHARED("raw/ogb_csv_ddi");
  TemporaryFolder folder;
  ImportOptions directed;
  directed.symmetrise = ImportOptions::Choice::kNo;
  const DatasetMeta snap =
      import_dataset("snap", kShared / "raw/snap_wiki_vote/wiki_vote.txt", folder / "snap", directed);
  const DatasetMeta neutral = import_dataset("npy", kShared / "lp_wiki_vote", folder / "wiki", directed);
  expect_same(snap, neutral, {"offsets.npy", "columns.npy"});
  EXPECT_EQ(Dataset::open(folder / "snap").original_ids().front(), 3);
  const DatasetMeta ddi = import_dataset("ogb", kShared / "raw/ogb_csv_ddi", folder / "ddi", {});
  EXPECT_EQ(ddi.vertices, 4267);
  EXPECT_EQ(ddi.arcs, 2 * 1067911);
}

}  // namespace
}  // namespace atl
