// One rank = two = three = four, any partitioner, dropout on, for every model: the whole path in float64, 20 epochs.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/small_job.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  const SmallData sparse{.density = 0.15}, multi{.multi_label = true}, weighted{.weighted = true},
      directed{.symmetric = false}, wide{.features = 20};
  return {
      {"gcn", {}},
      {"gcn_sparse_features", {"training.inputDropout={rate: 0.3}"}, sparse},
      {"gcn_input_dropout", {"training.inputDropout={rate: 0.3}"}},
      {"gcn_dropout_after_aggregation", {"training.inputDropout={rate: 0.3, position: afterAggregation}"}},
      {"gcn_transform_first", {"training.inputDropout={rate: 0.3}"}, wide},
      {"gcn_layer_norm", {"model.norm=layer"}},
      {"gcn_batch_norm", {"model.norm=batch"}},
      {"gcn_skip", {"model.skipConnections=true"}},
      {"gcn_dense_layers", {"model.denseLayers=2"}},
      {"gcn_weighted", {}, weighted},
      {"gcn_directed", {}, directed},
      {"gcn_recompute", {"training.recompute=layer", "model.norm=batch"}},
      {"gcn_synchronous", {"strategy.graph={overlap: false}"}},
      {"gcn_inductive", {"training.setting=inductive"}},
      {"gcn_inductive_batch_norm", {"training.setting=inductive", "model.norm=batch"}},
      {"gcn_inductive_multi_label",
       {"training.setting=inductive", "training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
       multi},
      {"sage_inductive_sparse_batch_norm",
       {"model.kind=sage", "training.setting=inductive", "model.norm=batch"},
       sparse},
      {"resgcn_inductive_batch_norm",
       {"model.kind=resgcn", "training.setting=inductive", "model.norm=batch",
        "model.options={aggregator: softmax}"}},
      {"gat_inductive", {"model.kind=gat", "training.setting=inductive", "model.options={heads: 2}"}},
      {"gcn_multi_label", {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"}, multi},
      {"sage", {"model.kind=sage"}},
      {"sage_sparse", {"model.kind=sage"}, sparse},
      {"sage_batch_norm", {"model.kind=sage", "model.norm=batch", "training.inputDropout={rate: 0.2}"}},
      {"sage_with_self", {"model.kind=sage", "model.options={aggregator: meanWithSelf}"}},
      {"sage_gcn", {"model.kind=sage", "model.options={aggregator: gcn}"}},
      {"gat",
       {"model.kind=gat", "model.options={heads: 4, outputHeads: 2}", "training.attentionDropout=0.4",
        "training.inputDropout={rate: 0.3}"}},
      {"gat_sparse",
       {"model.kind=gat", "model.options={heads: 2}", "training.inputDropout={rate: 0.3}"},
       sparse},
      {"gat_weighted", {"model.kind=gat", "model.options={heads: 2}"}, weighted},
      {"gcnii", {"model.kind=gcnii", "model.layers=4", "training.inputDropout={rate: 0.3}"}},
      {"gcnii_recompute", {"model.kind=gcnii", "model.layers=4", "training.recompute=layer"}},
      {"resgcn_mean", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
      {"resgcn_mean_batch", {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: mean}"}},
      {"resgcn_softmax", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: softmax}"}},
      {"resgcn_softmax_batch",
       {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}"}},
      {"sgc", {"model.kind=sgc"}},
      {"sgc_sparse", {"model.kind=sgc"}, sparse},
  };
}

class Equality : public testing::TestWithParam<SmallCase> {
 protected:
  /// Relative to the larger of the two and to 1, so that weights near zero don't decide.
  static void expect_equal(const SmallResult& one, const SmallResult& many, const std::string& what) {
    ASSERT_EQ(one.losses.size(), many.losses.size());
    for (std::size_t e = 0; e < one.losses.size(); ++e) {
      EXPECT_NEAR(one.losses[e], many.losses[e], 1e-9 * std::abs(one.losses[e]))
          << what << ", epoch " << e + 1;
    }
    EXPECT_NEAR(one.validation, many.validation, 1e-9) << what;
    EXPECT_NEAR(one.validation_loss, many.validation_loss, 1e-9 * std::abs(one.validation_loss)) << what;
    ASSERT_EQ(one.weights.size(), many.weights.size());
    for (std::size_t i = 0; i < one.weights.size(); ++i) {
      ASSERT_NEAR(one.weights[i], many.weights[i], 1e-8 * std::max(1.0, std::abs(double(one.weights[i]))))
          << what;
    }
  }
};

TEST_P(Equality, AnyNumberOfRanksAndAnyPartitioner) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Job job = small_job(GetParam().fields);
  const SmallResult one = train_small(job, folder / "small", 1, 20);
  ASSERT_LT(*std::min_element(one.losses.begin(), one.losses.end()), one.losses.front()) << "it should learn";
  const std::pair<int, const char*> runs[] = {{2, "metis"}, {3, "hash"}, {4, "range"}};
  for (const auto& [ranks, partitioner] : runs) {
    Job other = job;
    other.placement.partitioner.kind = partitioner;
    expect_equal(one, train_small(other, folder / "small", ranks, 20),
                 fmt::format("{} ranks, {}", ranks, partitioner));
  }
  const SmallResult threads = train_small(job, folder / "small", 1, 5, 3);
  for (std::size_t e = 0; e < 5; ++e)
    EXPECT_EQ(one.losses[e], threads.losses[e]) << "3 threads, epoch " << e + 1;
}

/// Nine vertices by hash on four ranks: some ranks have no training vertex, some no halo.
TEST(SmallGraph, RanksWithoutTrainingVerticesOrHalo) {
  for (const char* model : {"gcn", "sage", "gat", "gcnii", "resgcn", "sgc"}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.vertices = 9, .arc_share = 0.2});
    Job job = small_job({fmt::format("model.kind={}", model), "placement.partitioner={kind: hash}"});
    const SmallResult one = train_small(job, folder / "small", 1, 5),
                      four = train_small(job, folder / "small", 4, 5);
    for (std::size_t e = 0; e < 5; ++e)
      EXPECT_NEAR(one.losses[e], four.losses[e], 1e-9 * one.losses[e]) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Equality, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
