// Data sets of known names are held against what is published under them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "dataset/catalogue/describe.h"
#include "dataset/generate/generate.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DatasetMeta counts(const std::string& name, Index vertices, Index arcs, Index features, int classes) {
  DatasetMeta meta;
  meta.name = name;
  meta.vertices = vertices, meta.arcs = arcs, meta.features = features, meta.classes = classes;
  return meta;
}

TEST(Published, EveryRowIsOfAGraphThatCanBeAndSaysWhoSaysSo) {
  for (const PublishedCounts& row : published_counts()) {
    for (const char* c = row.name; *c; ++c) EXPECT_TRUE(std::islower(*c) || std::isdigit(*c)) << row.name;
    EXPECT_GT(row.arcs, row.vertices) << row.name;
    EXPECT_LT(row.classes, row.vertices / 8) << row.name;
    EXPECT_GT(std::string(row.source).size(), 8u) << row.name;
  }
}

TEST(Published, NamesAreComparedByLettersAndDigits) {
  for (const char* name : {"ogbn-arxiv", "ogbn_arxiv", "OGBN arxiv"}) {
    EXPECT_TRUE(compare_with_published(counts(name, 1, 1, 1, 1))) << name;
  }
  EXPECT_FALSE(compare_with_published(counts("mine", 2708, 10556, 1433, 7)));
}

TEST(Published, AnyOfTheRowsOfANameWillDo) {
  for (Index arcs : {9104, 9228}) {
    EXPECT_THAT(compare_with_published(counts("citeseer", 3327, arcs, 3703, 6))->differences, IsEmpty());
  }
  const auto doubled = compare_with_published(counts("citeseer", 3327, 18208, 3703, 6));
  EXPECT_THAT(doubled->differences, ElementsAre("arcs 18,208 instead of 9,104"));
  EXPECT_EQ(to_text(*doubled), "arcs 18,208 instead of 9,104 (published: PyG's documentation)");
}

TEST(Published, CoraIsAsPublished) {
  TemporaryFolder folder;
  ImportOptions options;
  options.name = "Cora";
  const auto comparison = compare_with_published(import_dataset("npy", kCora, folder / "out", options));
  ASSERT_TRUE(comparison);
  EXPECT_EQ(to_text(*comparison), "as published (PyG's documentation)");
}

TEST(Published, OneWayArcsOfAnUndirectedGraphAreNoticed) {
  TemporaryFolder folder;
  ImportOptions options;
  options.name = "cora";
  write_array(folder / "in" / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2}, {2});
  const auto comparison =
      compare_with_published(import_dataset("npy", folder / "in", folder / "out", options));
  EXPECT_THAT(comparison->differences, ElementsAre("vertices 3 instead of 2,708", "arcs 2 instead of 10,556",
                                                   "features 0 instead of 1,433", "classes 0 instead of 7"));
}

TEST(Published, SharedDataSetsAreAsPublished) {
  ATOLL_NEEDS_SHARED("tolokers");
  TemporaryFolder folder;
  ImportOptions options;
  options.name = "tolokers";
  const DatasetMeta meta = import_dataset("npy", kShared / "tolokers", folder / "out", options);
  EXPECT_THAT(compare_with_published(meta)->differences, IsEmpty());
}

class GeneratedFlickr : public testing::Test {
 protected:
  GeneratedFlickr() {
    generate_dataset(scaled_preset("flickr", 0.03, 1), folder_ / "out", {});
    description_ = describe(Dataset::open(folder_ / "out"));
  }

  TemporaryFolder folder_;
  DatasetDescription description_;
};

TEST_F(GeneratedFlickr, IsHeldAgainstItsPresetNotAgainstTheRealGraphsCounts) {
  EXPECT_FALSE(description_.published);
  ASSERT_NE(description_.preset, nullptr);
  EXPECT_EQ(description_.preset->spec.name, "flickr");
  const std::string text = to_text(description_);
  EXPECT_THAT(text, HasSubstr("8 parts: each vertex needs 2.16 remote rows on average (GNNPipe, Table 4)"));
  EXPECT_THAT(text, HasSubstr("flickr; the real graph: 89,250 vertices, mean degree 10.08, largest 5,425"));
}

TEST_F(GeneratedFlickr, DescribesItselfInOneLineOfJson) {
  const std::string json = to_json(description_);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_THAT(json, testing::StartsWith(R"({"event":"dataset","name":"flickr","vertices":2678,"arcs":)"));
  for (const char* part :
       {R"("featureNonzeros":-1)", R"("splits":{"default":1})", R"("splitCounts":{"default":{"train":)",
        R"("published":null)", R"("preset":{"name":"flickr")",
        R"({"parts":8,"haloRatio":2.16,"source":"GNNPipe, Table 4"})"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST_F(GeneratedFlickr, HasThePresetsDegreeTail) {
  const CommunitySpec spec = scaled_preset("flickr", 0.03, 1);
  EXPECT_NEAR(description_.degrees.mean, spec.average_degree, 0.2);
  EXPECT_NEAR(description_.degrees.tail_exponent, spec.tail_exponent, 0.5);
}

}  // namespace
}  // namespace atl
