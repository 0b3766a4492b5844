// Strategy pipegcn for every model, dropout and norms on: its recurrence on one rank, epoch for epoch; strategy graph
// where nothing is late.
#include <gtest/gtest.h>

#include "train/every_model.h"
#include "train/odd_ranks.h"
#include "train/same_training.h"
#include "train/stale_oracle.h"

namespace atl {
namespace {

constexpr int kEpochs = 8;

std::vector<SmallCase> cases() {
  const SmallData sparse{.density = 0.15}, weighted{.weighted = true}, directed{.symmetric = false};
  std::vector<SmallCase> all{
      {"gcn_batch_norm_recompute", {"model.norm=batch", "training.recompute=layer"}},
      {"gcn_skip_dense_weighted",
       {"model.norm=layer", "model.skipConnections=true", "model.denseLayers=1"},
       weighted},
      {"gcn_inductive_batch_norm", {"model.norm=batch", "training.setting=inductive"}},
      {"sage_layer_norm_directed", {"model.kind=sage", "model.norm=layer"}, directed},
      {"sage_sparse", {"model.kind=sage", "model.norm=batch"}, sparse},
      {"gat_batch_norm_recompute",
       {"model.kind=gat", "model.norm=batch", "model.options={heads: 2}", "training.recompute=layer"},
       weighted},
      {"gcnii_batch_norm", {"model.kind=gcnii", "model.layers=4", "model.norm=batch"}},
      {"resgcn_mean_layer_norm",
       {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
      {"resgcn_softmax_batch_norm_recompute",
       {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}",
        "training.recompute=layer"}}};
  for (const SmallCase& each : every_model()) all.push_back(each);
  return all;
}

/// The recurrence doesn't clip, as gcnii does by default.
const char* const kStepsOfAnyLength = "training.optimizer.clipNorm=0";

class PipeGcnOfModels : public testing::TestWithParam<SmallCase> {
 protected:
  PipeGcnOfModels() { write_small_data(folder_ / "small", GetParam().data); }

  Job job(const std::string& options) const {
    std::vector<std::string> fields = GetParam().fields;
    fields.insert(fields.end(), {"strategy.kind=pipegcn", "strategy.pipegcn=" + options, kStepsOfAnyLength});
    return small_job(fields);
  }

  TemporaryFolder folder_;
};

TEST_P(PipeGcnOfModels, EqualTheirRecurrence) {
  struct Run {
    const char* options;
    int ranks;
    const char* partitioner;
  };
  for (const auto& [options, ranks, partitioner] :
       {Run{"{smoothing: none}", 3, "metis"}, Run{"{smoothing: features, decay: 0.7}", 3, "hash"},
        Run{"{smoothing: gradients, decay: 0.7}", 3, "range"},
        Run{"{smoothing: both, decay: 0.7, biasCorrection: false}", 3, "metis"},
        Run{"{smoothing: both, decay: 0.7}", 6, "metis"}}) {
    Job late = job(options);
    late.placement.partitioner.kind = partitioner;
    expect_same_training(train_stale_oracle(late, folder_ / "small", ranks, kEpochs),
                         train_small(late, folder_ / "small", ranks, kEpochs),
                         fmt::format("{}, {} ranks, {}", options, ranks, partitioner));
  }
}

TEST_P(PipeGcnOfModels, AreThoseOfStrategyGraphWhereNothingIsLate) {
  std::vector<std::string> fields = GetParam().fields;
  fields.push_back(kStepsOfAnyLength);
  SmallResult graph;
  for (const int ranks : {2, 3, 4}) {
    graph = train_small(small_job(fields), folder_ / "small", ranks, kEpochs);
    expect_same_training(graph, train_small(job("{staleness: 0}"), folder_ / "small", ranks, kEpochs),
                         fmt::format("staleness 0, {} ranks", ranks), 1e-10);
  }
  expect_same_training(graph, train_small(job("{}"), folder_ / "small", 1, kEpochs), "one rank");
  const SmallResult late = train_small(job("{}"), folder_ / "small", 3, kEpochs);
  EXPECT_GT(std::abs(late.losses.back() - graph.losses.back()), 1e-6) << "a stale run differs";
}

INSTANTIATE_TEST_SUITE_P(Each, PipeGcnOfModels, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(PipeGcnSmall, OddRanksTakePart) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  for (const std::string& model : every_kind()) {
    const Job job = small_job({fmt::format("model.kind={}", model), kStepsOfAnyLength,
                               "placement.partitioner={kind: hash}", "strategy.kind=pipegcn",
                               "training.inputDropout={rate: 0.3}"});
    EXPECT_TRUE(odd_ranks(job, folder / "small", kFourAndFive).of_each_kind());
    for (const int ranks : kFourAndFive)
      expect_same_training(train_stale_oracle(job, folder / "small", ranks, kEpochs),
                           train_small(job, folder / "small", ranks, kEpochs), model);
  }
}

}  // namespace
}  // namespace atl
