// One rank = two = three = four, with any partitioner and dropout, for every model: the whole path in
// float64, 20 epochs. Five to eight ranks under every exchange that brings all rows in time.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/every_model.h"
#include "train/small_job.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  const SmallData sparse{.density = 0.15}, multi{.multi_label = true}, weighted{.weighted = true},
      directed{.symmetric = false};
  return {
      {"gcn", {}},
      {"gcn_bits", {}, kBitData},
      {"gcn_bits_normalised", {"dataset.normaliseFeatures=row"}, kBitData},
      {"gcn_input_dropout", {"training.inputDropout={rate: 0.3}"}},
      {"gcn_dropout_after_aggregation", {"training.inputDropout={rate: 0.3, position: afterAggregation}"}},
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
      {"sage_bits", {"model.kind=sage", "model.norm=batch"}, kBitData},
      {"sage_inductive_bits", {"model.kind=sage", "training.setting=inductive"}, kBitData},
      {"sage_batch_norm", {"model.kind=sage", "model.norm=batch", "training.inputDropout={rate: 0.2}"}},
      {"sage_with_self", {"model.kind=sage", "model.options={aggregator: meanWithSelf}"}},
      {"sage_gcn", {"model.kind=sage", "model.options={aggregator: gcn}"}},
      {"gat",
       {"model.kind=gat", "model.options={heads: 4, outputHeads: 2}", "training.attentionDropout=0.4",
        "training.inputDropout={rate: 0.3}"}},
      {"gat_batch_norm", {"model.kind=gat", "model.norm=batch", "model.options={heads: 2}"}},
      {"gat_skip", {"model.kind=gat", "model.options={heads: 2}", "model.skipConnections=true"}},
      {"gcnii", {"model.kind=gcnii", "model.layers=4", "training.inputDropout={rate: 0.3}"}},
      {"gcnii_recompute", {"model.kind=gcnii", "model.layers=4", "training.recompute=layer"}},
      {"resgcn_mean", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
      {"resgcn_mean_batch", {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: mean}"}},
      {"resgcn_softmax", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: softmax}"}},
      {"resgcn_softmax_batch",
       {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}"}},
      {"resgcn_softmax_weighted",
       {"model.kind=resgcn", "training.dropout=0.1", "model.options={aggregator: softmax}"},
       weighted},
      {"sgc", {"model.kind=sgc"}},
      {"sgc_weighted", {"model.kind=sgc"}, weighted},
      {"sgc_sparse", {"model.kind=sgc"}, sparse},
      {"sgc_bits", {"model.kind=sgc"}, kBitData},
      {"sign", {"model.kind=sign", "training.inputDropout={rate: 0.3, position: afterAggregation}"}},
      {"sign_batch_norm_weighted", {"model.kind=sign", "model.norm=batch"}, weighted},
      {"sign_deep",
       {"model.kind=sign", "model.options={hops: 2, hopLayers: 2}", "model.denseLayers=1",
        "training.inputDropout={rate: 0.3, position: afterAggregation}"}},
      {"sign_sparse_recompute", {"model.kind=sign", "training.recompute=layer"}, sparse},
      {"sign_inductive_bits", {"model.kind=sign", "training.setting=inductive"}, kBitData},
  };
}

class Equality : public testing::TestWithParam<SmallCase> {};

TEST_P(Equality, AnyNumberOfRanksAndAnyPartitioner) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Job job = small_job(GetParam().fields);
  const SmallResult one = train_small(job, folder / "small", 1, 20);
  ASSERT_LT(*std::min_element(one.losses.begin(), one.losses.end()), one.losses.front()) << "it should learn";
  const std::pair<int, const char*> runs[] = {{2, "metis"}, {4, "metis"}, {3, "hash"},
                                              {4, "hash"},  {2, "range"}, {3, "range"}};
  for (const auto& [ranks, partitioner] : runs) {
    Job other = job;
    other.placement.partitioner.kind = partitioner;
    expect_same_training(one, train_small(other, folder / "small", ranks, 20),
                         fmt::format("{} ranks, {}", ranks, partitioner));
  }
  expect_same_training(one, train_small(job, folder / "small", 4, 20, 1, {2, 0, 3, 1}),
                       "4 ranks, parts 2, 0, 3, 1");
  const SmallResult threads = train_small(job, folder / "small", 1, 5, 3);
  for (std::size_t e = 0; e < 5; ++e)
    EXPECT_EQ(one.losses[e], threads.losses[e]) << "3 threads, epoch " << e + 1;
}

class ManyRanks : public testing::TestWithParam<SmallCase> {};

TEST_P(ManyRanks, AreOneUnderEveryExchangeThatBringsAllRowsInTime) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const int epochs = 4;
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, epochs);
  for (const char* strategy : {"{kind: graph}", "{kind: cagnet}", "{kind: bns, bns: {rate: 1}}",
                               "{kind: pipegcn, pipegcn: {staleness: 0}}"}) {
    std::vector<std::string> fields = GetParam().fields;
    fields.push_back(fmt::format("strategy={}", strategy));
    Job job = small_job(fields);
    for (const auto& [ranks, partitioner] :
         {std::pair(5, "hash"), {6, "metis"}, {7, "range"}, {8, "metis"}}) {
      job.placement.partitioner.kind = partitioner;
      expect_same_training(one, train_small(job, folder / "small", ranks, epochs),
                           fmt::format("{}, {} ranks, {}", strategy, ranks, partitioner));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ManyRanks, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });

class SmallGraph : public testing::TestWithParam<std::string> {};

TEST_P(SmallGraph, RanksWithoutVerticesTrainingVerticesOrHalo) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  const char* position = find_model(GetParam())->aggregates_first ? "afterAggregation" : "beforeAggregation";
  for (const double rate : {0.0, 0.3}) {
    const Job job =
        small_job({fmt::format("model.kind={}", GetParam()), "placement.partitioner={kind: hash}",
                   fmt::format("training.inputDropout={{rate: {}, position: {}}}", rate, position)});
    EXPECT_TRUE(odd_ranks(job, folder / "small", kFourAndFive).of_each_kind());
    const SmallResult one = train_small(job, folder / "small", 1, 5);
    for (const int ranks : kFourAndFive) {
      const SmallResult many = train_small(job, folder / "small", ranks, 5);
      for (std::size_t e = 0; e < 5; ++e)
        EXPECT_NEAR(one.losses[e], many.losses[e], 1e-9 * one.losses[e])
            << "input dropout " << rate << ", " << ranks << " ranks";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SmallGraph, testing::ValuesIn(every_kind()),
                         [](const auto& each) { return each.param; });

/// Where a gradient is zero (a bias before batch norm) Adam would make steps of its rounding.
std::vector<SmallCase> on_other_data() {
  std::vector<SmallCase> all = every_model_on_other_data();
  for (SmallCase& each : all) {
    if (std::ranges::find(each.fields, "model.norm=batch") != each.fields.end())
      each.fields.emplace_back("training.optimizer={kind: sgd, learningRate: 0.1}");
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(OtherData, Equality, testing::ValuesIn(on_other_data()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Models, Equality, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
