// Mini-batches of features stored sparse or as bits, under every sampler and with pairs of link prediction:
// they train what the same values stored dense train, on the same draws, however many ranks hold the rows.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "dataset/dataset.h"
#include "dataset/format/npy_writer.h"
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

/// The same data in two folders, with features as they're stored and dense. Input dropout of the jobs comes
/// before the sum, so that dense features have no first sum of their own: layers then have the same numbers,
/// and so the same weights.
class BothForms {
 public:
  explicit BothForms(const SmallData& data) {
    for (const char* form : {"packed", "dense"}) {
      std::filesystem::create_directory(folder_ / form);
      write_small_data(place(form), data);
    }
    store_dense(place("dense"));
    stored = Dataset::open(place("packed")).meta().feature_form;
  }
  void expect_alike(const Job& job) const {
    const auto train = [&](const char* form) {
      return train_small(job, place(form), job.placement.ranks, kEpochs);
    };
    const SmallResult dense = train("dense");
    EXPECT_NE(dense.losses.front(), dense.losses.back());
    expect_same_training(dense, train("packed"), "packed rows", 1e-9);
  }
  FeatureForm stored;

 private:
  std::filesystem::path place(const std::string& form) const { return folder_ / form / "small"; }
  TemporaryFolder folder_;
};

class PackedSamplers : public testing::TestWithParam<SmallCase> {};

TEST_P(PackedSamplers, TrainWhatDenseRowsTrain) {
  const SmallCase& c = GetParam();
  const BothForms forms(c.data);
  ASSERT_EQ(forms.stored, c.data.one_valued ? FeatureForm::kBits : FeatureForm::kSparse);
  for (const auto& [name, options] : all_samplers())
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} ranks", name, ranks));
      forms.expect_alike(sampler_job(c.fields, options, ranks));
    }
}

/// Of link prediction: a batch has pairs, and reads the rows of their ends.
TEST(PackedPairs, TrainWhatDenseRowsTrain) {
  SmallCase c{
      "pairs", {"model.norm=layer", kDroppedBefore}, {.features = 600, .arc_share = 0.1, .density = 0.01}};
  c.data.edges = true, c.data.labelled = false, c.data.split = false;
  const BothForms forms(c.data);
  ASSERT_EQ(forms.stored, FeatureForm::kSparse);
  for (const int ranks : {1, 3}) {
    SCOPED_TRACE(ranks);
    forms.expect_alike(link_job(c, ranks,
                                {"strategy={kind: minibatch, minibatch: {fanout: [2, 2, 2], batchSize: 31}}",
                                 "placement.partitioner={kind: range, parts: 6}"}));
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
        SmallCase{"bits_sage", {"model.kind=sage", kDroppedBefore}, kBitData}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
