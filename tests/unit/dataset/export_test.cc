// Export and import again give the same arrays; statistics equal the known ones.
#include "dataset/export.h"

#include <gtest/gtest.h>

#include "dataset/catalogue/describe.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

std::map<std::string, std::string> checksums_of(DatasetMeta meta) {
  return meta.checksums;
}

TEST(Export, CoraComesBackTheSame) {
  TemporaryFolder folder;
  const DatasetMeta first = import_dataset("npy", kCora, folder / "a", {});
  export_dataset(Dataset::open(folder / "a"), folder / "out");
  const DatasetMeta second = import_dataset("npy", folder / "out", folder / "b", {});
  EXPECT_EQ(checksums_of(first), checksums_of(second));
  EXPECT_EQ(first.splits, second.splits);
}

TEST(Export, WeightsTargetsDenseFeaturesAndOriginalIdsComeBack) {
  TemporaryFolder folder;
  WriterOptions options;
  options.weighted = true;
  DatasetWriter writer(folder / "a", options);
  writer.add_arcs(std::vector<VertexId>{0, 2}, std::vector<VertexId>{1, 1}, std::vector<float>{0.5f, 2.0f},
                  {"x"});
  const std::vector<float> features{1, 2, 3, 4, 5, 6};
  writer.begin_features(2);
  writer.add_features({features.data(), 3, 2}, {"x"});
  const std::vector<std::uint8_t> targets{1, 0, 0, 1, 1, 1}, split{1, 2, 3};
  writer.set_targets({targets.data(), 3, 2}, {"x"});
  writer.add_split("default", {split.data(), 3, 1}, "x");
  writer.set_original_ids(std::vector<std::int64_t>{10, 20, 30}, {"ids"});
  const DatasetMeta first = writer.finish();
  export_dataset(Dataset::open(folder / "a"), folder / "out");
  ImportOptions with_weights;
  with_weights.weights = true;
  EXPECT_EQ(checksums_of(first),
            checksums_of(import_dataset("npy", folder / "out", folder / "b", with_weights)));
}

TEST(Export, BitsComeBack) {
  TemporaryFolder folder;
  DatasetWriter writer(folder / "a", {});
  writer.add_arcs(std::vector<VertexId>{0, 2}, std::vector<VertexId>{1, 1}, {}, {"x"});
  std::vector<float> features(3 * 70, 0.0f);
  for (std::size_t i = 0; i < features.size(); i += 3) features[i] = float(1 + i / 70);
  writer.begin_features(70);
  writer.add_features({features.data(), 3, 70}, {"x"});
  writer.set_labels(std::vector<std::int32_t>{0, 1, 0}, 2, {"x"});
  writer.add_split("default", {std::vector<std::uint8_t>{1, 2, 3}.data(), 3, 1}, "x");
  const DatasetMeta first = writer.finish();
  ASSERT_EQ(first.feature_form, FeatureForm::kBits);
  export_dataset(Dataset::open(folder / "a"), folder / "out");
  EXPECT_EQ(checksums_of(first), checksums_of(import_dataset("npy", folder / "out", folder / "b", {})));
}

TEST(Export, LeavesWhatExists) {
  TemporaryFolder folder;
  import_dataset("npy", kCora, folder / "a", {});
  write_text(folder / "out" / "mine", "x");
  EXPECT_THROW(export_dataset(Dataset::open(folder / "a"), folder / "out"), Error);
  EXPECT_EQ(read_bytes(folder / "out" / "mine"), "x");
}

TEST(Describe, CorasStatisticsAreThePublishedOnes) {
  TemporaryFolder folder;
  import_dataset("npy", kCora, folder / "cora", {});
  const DatasetDescription cora = describe(Dataset::open(folder / "cora"));
  EXPECT_NEAR(cora.homophily, 0.81, 0.005);
  EXPECT_NEAR(cora.degrees.mean, 3.898, 0.001);
  EXPECT_EQ(cora.degrees.largest, 168);
  EXPECT_EQ(cora.degrees.isolated, 0);
  EXPECT_EQ(cora.class_counts, (std::vector<Index>{351, 217, 418, 818, 426, 298, 180}));
  EXPECT_EQ(cora.splits.at(0).train, 140);
  EXPECT_NEAR(cora.feature_density, 49216.0 / (2708 * 1433), 1e-12);
  const std::string text = to_text(cora);
  EXPECT_NE(text.find("homophily    0.810"), std::string::npos) << text;
  EXPECT_NE(text.find("geom_gcn: 1,192 train"), std::string::npos) << text;
}

}  // namespace
}  // namespace atl
