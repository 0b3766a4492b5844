// Strategy `gnnpipe`: the layers of each stage, as a job gives them, or by their costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "strategies/gnnpipe/pipeline.h"
#include "train/every_model.h"

namespace atl {
namespace {

using Ends = std::vector<int>;  // of each stage's layers, of the model's

Ends ends_of(const std::vector<std::string>& fields, const std::string& options,
             const FeatureShape& features = {.columns = 6, .arcs_per_vertex = 4}) {
  std::vector<std::string> all = fields;
  all.insert(all.end(),
             {"strategy.kind=gnnpipe", "strategy.gnnpipe=" + options, "placement.ranks=2", "model.layers=4"});
  const Job job = small_job(all);
  Ends ends;
  int begin = 0;
  for (const LayerRange& range : stage_ranges(job, job_model(job, features, 3))) {
    EXPECT_EQ(range.first, begin);
    ends.push_back(begin = range.end);
  }
  return ends;
}

TEST(PipelineStages, HaveTheConvolutionsThatAJobGives) {
  EXPECT_EQ(ends_of({}, "{layers: [1, 3]}"), (Ends{2, 5}));  // the precomputed aggregation and its product
  EXPECT_EQ(ends_of({"model.kind=gat"}, "{layers: [1, 3]}"), (Ends{1, 4}));
  EXPECT_EQ(ends_of({"model.kind=gcnii"}, "{layers: [1, 3]}"),
            (Ends{2, 6}));  // the encoder goes with the first
  EXPECT_EQ(ends_of({"model.kind=gcnii"}, "{layers: [3, 1]}"), (Ends{4, 6}));
  EXPECT_EQ(ends_of({"model.kind=gin"}, "{layers: [2, 2]}"), (Ends{5, 9}));  // two layers a convolution
  EXPECT_EQ(ends_of({"model.denseLayers=2"}, "{layers: [3, 1]}"), (Ends{4, 7}));
  EXPECT_EQ(ends_of({}, "{layers: [4]}"), (Ends{5}));
}

/// A wide encoder is as much as several convolutions if all of its columns are multiplied, and little if a
/// few are.
TEST(PipelineStages, SparseFeaturesDoNotMakeTheFirstStageLookExpensive) {
  const std::vector<std::string> gcnii{"model.kind=gcnii", "model.hidden=64"};
  const FeatureShape dense{.columns = 5000, .arcs_per_vertex = 4};
  const FeatureShape sparse{
      .columns = 5000, .form = FeatureForm::kSparse, .nonzeros_per_row = 10, .arcs_per_vertex = 4};
  EXPECT_EQ(ends_of(gcnii, "{}", dense), (Ends{1, 6}));
  EXPECT_EQ(ends_of(gcnii, "{}", sparse), (Ends{3, 6}));
}

/// What a convolution costs grows with the neighbours, what an encoder costs doesn't.
TEST(PipelineStages, AreBalancedForTheArcsThatThereAre) {
  const std::vector<std::string> gcnii{"model.kind=gcnii", "model.hidden=64"};
  EXPECT_EQ(ends_of(gcnii, "{}", {.columns = 1000, .arcs_per_vertex = 1}), (Ends{1, 6}));
  EXPECT_EQ(ends_of(gcnii, "{}", {.columns = 1000, .arcs_per_vertex = 500}), (Ends{3, 6}));
}

/// A thousand layers have thousands of parameters, for which stages are divided once.
TEST(PipelineStages, ADeepModelsParametersHaveTheirPlacesAtOnce) {
  const Job job = small_job({"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 64}", "placement.ranks=64",
                             "model.kind=gcnii", "model.layers=1000"});
  const Model model = job_model(job, {.columns = 6, .arcs_per_vertex = 4}, 3);
  const auto begin = std::chrono::steady_clock::now();
  const Parameters of_last(model.parameters(), 1, model_share_of(job, model, 63).places, Device::kDry);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const LayerRange last = stage_ranges(job, model).back();
  for (const Parameters::Entry& each : of_last.entries())
    EXPECT_EQ(each.count > 0, last.contains(each.layer)) << each.spec.name;
  EXPECT_LT(seconds.count(), 10);  // only notices a blow-up
}

void expect_refused(const std::vector<std::string>& fields, const std::string& options,
                    const std::string& message) {
  std::vector<std::string> all = fields;
  all.insert(all.end(), {"strategy.kind=gnnpipe", "strategy.gnnpipe={" + options + "}"});
  EXPECT_THAT([&] { small_job(all); }, testing::ThrowsMessage<Error>(testing::HasSubstr(message))) << options;
}

TEST(PipelineStages, ThatCannotBeAreRefused) {
  expect_refused({"placement.ranks=4"}, "stages: 4",
                 "strategy.gnnpipe.stages: 4 stages for a gcn of 3 layers (use at most one a layer)");
  expect_refused({"placement.ranks=2", "model.kind=sgc"}, "stages: 2",
                 "strategy.gnnpipe.stages: 2 stages for a sgc of 1 layer (use at most one a layer)");
  expect_refused({"placement.ranks=2", "model.kind=sgc"}, "layers: [1, 1]",
                 "strategy.gnnpipe.layers: has 2 numbers for a sgc, which has one stage (remove the list)");
  expect_refused({"placement.ranks=2", "model.kind=sgc"}, "layers: [2, 2]",
                 "strategy.gnnpipe.layers: has 2 numbers for a sgc, which has one stage (remove the list)");
  expect_refused(
      {"placement.ranks=3"}, "chunks: 2",
      "strategy.gnnpipe.chunks: 2 chunks for 3 stages, some of which would always wait (use 3 or more)");
}

}  // namespace
}  // namespace atl
