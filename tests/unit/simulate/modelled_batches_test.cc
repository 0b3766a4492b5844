// Batches of a model are made with as many exchanges as those of ranks that were recorded.
#include <gtest/gtest.h>

#include <map>

#include "simulate/record.h"
#include "train/small_job.h"

namespace atl {
namespace {

class ModelledBatches : public testing::TestWithParam<SmallCase> {};

/// Exchanges of a rank's second batch, by purpose.
std::map<std::string, int> exchanges(const Recording& recording, Rank rank) {
  std::map<std::string, int> count;
  for (const RecordedOperation& each : recording.ranks.at(std::size_t(rank)).batches.all.at(1).operations)
    ++count[traffic_name(each.purpose)];
  return count;
}

TEST_P(ModelledBatches, TakeAsManyExchangesAsRecordedOnes) {
  constexpr int kRanks = 3;
  const TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  fields.push_back("placement.ranks=3");
  const Job job = small_job(fields);
  const Dataset dataset = Dataset::open(folder / "small");
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, kRanks),
                                                     graph_transforms(job), training_marks(dataset, job));
  const RecordOptions options{.epochs = 4, .hosts = std::vector<std::string>(kRanks, "a")};
  const MachineRates rates{.triad_bytes = 1e10, .gather_bytes = 1e9, .product_flops = 1e11};
  const Recording recorded = record_run(job, dataset, prepared, options);
  const Recording modelled = record_modelled(job, dataset, prepared, options, rates);
  for (Rank rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(exchanges(modelled, rank), exchanges(recorded, rank)) << "rank " << rank;
}

/// So many vertices that each rank reads rows of others in every batch, whoever draws it: an exchange without
/// any rows is none.
SmallData many(SmallData data) {
  data.vertices = 400;
  return data;
}

SmallCase sampled(const std::string& name, const std::string& options,
                  const std::vector<std::string>& fields = {}, const SmallData& data = many({})) {
  SmallCase one{name, {"strategy={kind: minibatch, minibatch: {" + options + "}}"}, data};
  one.fields.insert(one.fields.end(), fields.begin(), fields.end());
  return one;
}

std::vector<SmallCase> cases() {
  return {
      sampled("Neighbours", "batchSize: 40"),
      sampled("BatchNorm", "batchSize: 40", {"model.norm=batch"}),
      sampled("SparseFeatures", "batchSize: 40", {}, many({.features = 40, .density = 0.1})),
      sampled("BitFeatures", "batchSize: 40", {}, many(kBitData)),
      sampled("Mapped", "batchSize: 40, structure: mapped"),
      sampled("Historical", "sampler: historical, batchSize: 40"),
      sampled("FastGcn", "sampler: fastgcn, layerSizes: [60, 60, 60], batchSize: 40"),
      sampled("Ladies", "sampler: ladies, layerSizes: [60, 60, 60], batchSize: 40"),
      sampled("Cluster", "sampler: cluster, merged: 6", {"placement.partitioner={kind: range, parts: 6}"}),
      sampled("Uniform", "sampler: uniform, draws: 90"),
      sampled("SaintVertices", "sampler: saintVertex, draws: 90"),
      sampled("SaintEdges", "sampler: saintEdge, draws: 90"),
      sampled("SaintWalks", "sampler: saintWalk, draws: 60, coverage: 20"),
      {"P3", {"strategy={kind: p3, p3: {batchSize: 40}}"}, many({})}};
}

INSTANTIATE_TEST_SUITE_P(Samplers, ModelledBatches, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
