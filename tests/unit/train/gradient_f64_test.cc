// Every model's hand-written backward against central differences of its loss, dropout on (its draws are keyed, so the
// loss is a function of the weights alone).
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> fields;
  SmallData data = {};
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Gradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, IsThatOfTheLoss) {
  TemporaryFolder folder;
  SmallData data = GetParam().data;
  data.vertices = 24;
  data.arc_share = 0.15;
  write_small_data(folder / "small", data);
  const Job job = small_job(GetParam().fields);
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    // The trainer has released raw features that its schedule no longer needs: a schedule of our own, on fresh data.
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
    parameters.zero_gradients();
    schedule->train_epoch(5, step);
    const std::vector<Real> gradient(parameters.gradients().begin(), parameters.gradients().end());
    ASSERT_FALSE(gradient.empty());
    double largest = 0;
    for (const Real g : gradient) largest = std::max(largest, std::abs(double(g)));
    const std::size_t stride = std::max<std::size_t>(1, gradient.size() / 60);
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      Real& weight = parameters.trainable()[i];
      const Real kept = weight, h = Real(1e-6);
      weight = kept + h;
      schedule->train_epoch(5, step);
      const double above = step.value;
      weight = kept - h;
      schedule->train_epoch(5, step);
      const double below = step.value;
      weight = kept;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * h), 2e-6 * std::max(1.0, largest)) << "parameter " << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Models, Gradient,
    testing::Values(
        Case{"gcn", {}}, Case{"gcn_layer_norm", {"model.norm=layer"}},
        Case{"gcn_batch_norm", {"model.norm=batch"}},
        Case{"gcn_inductive_batch_norm", {"model.norm=batch", "training.setting=inductive"}},
        Case{"gcn_skip", {"model.skipConnections=true", "model.norm=layer"}},
        Case{"gcn_sparse", {"training.inputDropout={rate: 0.3}"}, {.density = 0.15}},
        Case{"gcn_wide", {"training.inputDropout={rate: 0.3}"}, {.features = 20}},
        Case{"gcn_weighted_directed", {}, {.weighted = true, .symmetric = false}},
        Case{"gcn_multi_label",
             {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
             {.multi_label = true}},
        Case{"sage", {"model.kind=sage"}},
        Case{"sage_raw", {"model.kind=sage", "training.inputDropout={rate: 0.3}"}},
        Case{"sage_wide", {"model.kind=sage", "training.inputDropout={rate: 0.3}"}, {.features = 20}},
        Case{"gat",
             {"model.kind=gat", "model.options={heads: 4, outputHeads: 2}", "training.attentionDropout=0.4"}},
        Case{"gat_weighted", {"model.kind=gat", "model.options={heads: 2}"}, {.weighted = true}},
        Case{"gcnii", {"model.kind=gcnii", "model.layers=4"}},
        Case{"gcnii_batch_norm", {"model.kind=gcnii", "model.norm=batch"}},
        Case{"resgcn_mean", {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
        Case{"resgcn_mean_batch",
             {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: mean}"}},
        Case{"resgcn_softmax",
             {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: softmax}"}},
        Case{"resgcn_softmax_batch",
             {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}"}},
        Case{"sgc_sparse", {"model.kind=sgc"}, {.density = 0.15}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
