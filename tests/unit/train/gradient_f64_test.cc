// Every model's hand-written backward against central differences of its loss, dropout on (its draws are
// keyed, so the loss is a function of the weights alone).
#include <gtest/gtest.h>

#include "train/every_model.h"

namespace atl {
namespace {

class Gradient : public testing::TestWithParam<SmallCase> {};

TEST_P(Gradient, IsThatOfTheLoss) {
  TemporaryFolder folder;
  SmallData data = GetParam().data;
  data.vertices = 24;
  data.arc_share = 0.15;
  write_small_data(folder / "small", data);
  const Job job = small_job(GetParam().fields);
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    // The trainer has released raw features that its schedule no longer needs: a schedule of our own, on
    // fresh data.
    RankData fresh(job, rank.dataset, rank.prepared, 0);
    fresh.count(comm);
    const Model& model = rank.trainer->model();
    Parameters parameters(model.parameters(), 3);
    auto schedule = make_schedule(
        {rank.ctx, comm, job, model, parameters, fresh.training_part(), fresh.training_vertices(), false});
    // Biases begin at 0, where a row without features stands on ReLU's kink: move everything off it.
    for (std::size_t i = 0; i < parameters.trainable().size(); ++i) {
      parameters.trainable()[i] += Real(0.1 * (Draws(9, Purpose::kSampling).uniform_at(i, 0) - 0.5));
    }
    LossOnly step(rank.ctx, job, fresh);
    parameters.zero_gradients(rank.ctx);
    schedule->train(5, step);
    const std::vector<Real> gradient(parameters.gradients().begin(), parameters.gradients().end());
    ASSERT_FALSE(gradient.empty());
    double largest = 0;
    for (const Real g : gradient) largest = std::max(largest, std::abs(double(g)));
    const std::size_t stride = std::max<std::size_t>(1, gradient.size() / 60);
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      Real& weight = parameters.trainable()[i];
      const Real kept = weight, h = Real(1e-6);
      weight = kept + h;
      schedule->train(5, step);
      const double above = step.value;
      weight = kept - h;
      schedule->train(5, step);
      const double below = step.value;
      weight = kept;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * h), 2e-6 * std::max(1.0, largest)) << "parameter " << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Gradient, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(OtherData, Gradient, testing::ValuesIn(every_model_on_other_data()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Models, Gradient,
    testing::Values(
        SmallCase{"gcn", {}}, SmallCase{"gcn_layer_norm", {"model.norm=layer"}},
        SmallCase{"gcn_batch_norm", {"model.norm=batch"}},
        SmallCase{"gcn_inductive_batch_norm", {"model.norm=batch", "training.setting=inductive"}},
        SmallCase{"gcn_skip", {"model.skipConnections=true", "model.norm=layer"}},
        SmallCase{"gcn_bits", {}, kBitData},
        SmallCase{"gcn_weighted_directed", {}, {.weighted = true, .symmetric = false}},
        SmallCase{"gcn_multi_label",
                  {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                  {.multi_label = true}},
        SmallCase{"gcn_after_aggregation", {"training.inputDropout={rate: 0.3, position: afterAggregation}"}},
        SmallCase{"gcn_dense_layers", {"model.denseLayers=2", "model.norm=layer"}},
        SmallCase{"sage", {"model.kind=sage"}},
        SmallCase{"sage_raw", {"model.kind=sage", "training.inputDropout={rate: 0.3}"}},
        SmallCase{"sage_bits", {"model.kind=sage"}, kBitData},
        SmallCase{"sage_weighted", {"model.kind=sage"}, {.weighted = true}},
        SmallCase{"sage_after_aggregation",
                  {"model.kind=sage", "training.inputDropout={rate: 0.3, position: afterAggregation}"}},
        SmallCase{"sage_dense_layers", {"model.kind=sage", "model.denseLayers=1", "model.norm=batch"}},
        SmallCase{"sage_layer_norm_skip",
                  {"model.kind=sage", "model.norm=layer", "model.skipConnections=true"}},
        SmallCase{"sage_batch_norm", {"model.kind=sage", "model.norm=batch"}},
        SmallCase{"sage_gcn_aggregator", {"model.kind=sage", "model.options={aggregator: gcn}"}},
        SmallCase{
            "gat",
            {"model.kind=gat", "model.options={heads: 4, outputHeads: 2}", "training.attentionDropout=0.4"}},
        SmallCase{"gat_weighted", {"model.kind=gat", "model.options={heads: 2}"}, {.weighted = true}},
        SmallCase{"gat_skip", {"model.kind=gat", "model.options={heads: 2}", "model.skipConnections=true"}},
        SmallCase{
            "gat_skip_layer_norm",
            {"model.kind=gat", "model.options={heads: 2}", "model.norm=layer", "model.skipConnections=true"}},
        SmallCase{"gat_batch_norm", {"model.kind=gat", "model.options={heads: 2}", "model.norm=batch"}},
        SmallCase{"gcnii", {"model.kind=gcnii", "model.layers=4"}},
        SmallCase{"gcnii_weighted", {"model.kind=gcnii"}, {.weighted = true}},
        SmallCase{"gcnii_layer_norm", {"model.kind=gcnii", "model.norm=layer"}},
        SmallCase{"gcnii_batch_norm", {"model.kind=gcnii", "model.norm=batch"}},
        SmallCase{"resgcn_mean",
                  {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
        SmallCase{"resgcn_mean_batch",
                  {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: mean}"}},
        SmallCase{"resgcn_softmax",
                  {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: softmax}"}},
        SmallCase{"resgcn_softmax_batch",
                  {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}"}},
        SmallCase{"sgc", {"model.kind=sgc"}},
        SmallCase{"sgc_raw", {"model.kind=sgc", "training.inputDropout={rate: 0.3}"}},
        SmallCase{"sgc_weighted", {"model.kind=sgc"}, {.weighted = true, .symmetric = false}},
        SmallCase{"sgc_sparse", {"model.kind=sgc"}, {.density = 0.15}},
        SmallCase{"sign_deep",
                  {"model.kind=sign", "model.options={hops: 2, hopLayers: 3}", "model.denseLayers=2",
                   "training.inputDropout={rate: 0.3, position: afterAggregation}"}},
        SmallCase{"sign_deep_layer_norm",
                  {"model.kind=sign", "model.options={hops: 2, hopLayers: 2}", "model.denseLayers=1",
                   "model.norm=layer"}},
        SmallCase{"sign_deep_batch_norm",
                  {"model.kind=sign", "model.options={hops: 2, hopLayers: 2}", "model.norm=batch"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
