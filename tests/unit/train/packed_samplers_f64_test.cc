// Mini-batches of features stored sparse or as bits, under every sampler: they train what the same values
// stored dense train, on the same draws, however many ranks hold the rows.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "dataset/format/npy_writer.h"
#include "dataset/meta.h"
#include "train/part_data.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kEpochs = 4;

/// Stores the data set's features dense, whatever form they had.
void store_dense(const std::filesystem::path& folder) {
  std::ifstream file(folder / "meta.json");
  DatasetMeta meta = parse_meta(std::string{std::istreambuf_iterator<char>(file), {}}, "meta.json");
  Matrix rows(meta.vertices, meta.features);
  std::vector<VertexId> ids(std::size_t(meta.vertices));
  std::iota(ids.begin(), ids.end(), VertexId(0));
  Dataset::open(folder).read_features(ids, rows);
  const auto* const values = rows.data();
  NpyWriter writer(folder / "features.npy", Dtype::kFloat32, {meta.features});
  writer.append(std::vector<float>(values, values + meta.vertices * meta.features));
  writer.finish();
  meta.feature_form = FeatureForm::kDense;
  meta.feature_nonzeros = -1;
  std::ofstream(folder / "meta.json") << print_meta(meta);
}

/// The samplers of whole steps, and those by vertex that read neighbours.
std::map<std::string, std::string> all_samplers() {
  std::map<std::string, std::string> all = every_sampler();
  for (const char* name : {"neighbour", "historical"})
    all[name] = fmt::format("sampler: {}, fanout: [LAYERS], batchSize: 7", name);
  return all;
}

class PackedSamplers : public testing::TestWithParam<SmallCase> {};

/// Input dropout comes before the sum, so that dense features have no first sum of their own: layers then
/// have the same numbers, and so the same weights.
TEST_P(PackedSamplers, TrainWhatDenseRowsTrain) {
  const SmallCase& c = GetParam();
  TemporaryFolder folder;
  for (const char* form : {"packed", "dense"}) {
    std::filesystem::create_directory(folder / form);
    write_small_data(folder / form / "small", c.data);
  }
  store_dense(folder / "dense" / "small");
  const FeatureForm stored = Dataset::open(folder / "packed" / "small").meta().feature_form;
  ASSERT_EQ(stored, c.data.one_valued ? FeatureForm::kBits : FeatureForm::kSparse);
  for (const auto& [name, options] : all_samplers())
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} ranks", name, ranks));
      const Job job = sampler_job(c.fields, options, ranks);
      const auto train = [&](const char* form) {
        return train_small(job, folder / form / "small", ranks, kEpochs);
      };
      const SmallResult dense = train("dense");
      EXPECT_NE(dense.losses.front(), dense.losses.back());
      expect_same_training(dense, train("packed"), "packed rows", 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PackedSamplers,
    testing::Values(
        SmallCase{"sparse_gcn", {"model.norm=layer", kDroppedBefore}, {.features = 600, .density = 0.01}},
        SmallCase{"sparse_sage", {"model.kind=sage", kDroppedBefore}, {.features = 600, .density = 0.01}},
        SmallCase{"sparse_gat",
                  {"model.kind=gat", "model.options={heads: 2}", kDroppedBefore},
                  {.features = 600, .density = 0.01}},
        SmallCase{"bits_sage", {"model.kind=sage"}, kBitData}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
