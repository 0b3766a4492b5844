// Link prediction through the whole trainer: its gradients are those of its loss, and it learns the same on
// any number of ranks, with any partitioner, under every exact strategy; a batch of everything equals
// `graph`, and `p3` equals `minibatch`.
#include <gtest/gtest.h>

#include "job/models.h"
#include "train/late_steps.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

class LinkTraining : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const Job& job, int epochs) {
    return train_small(job, folder_ / "small", job.placement.ranks, epochs);
  }
  TemporaryFolder folder_;
};

/// The session's side of one pass: keeps the loss and leaves the gradients where they are.
class PairLossOnly final : public TrainingStep {
 public:
  PairLossOnly(LinkTask& task, Parameters& parameters) : task_(task), parameters_(parameters) {}
  void loss(ConstMatrixView rows, const LossRows& of, MatrixView d_rows) override {
    value = task_.loss(5, rows, of, parameters_.present(), d_rows);
  }
  void update() override {}
  double value = 0;

 private:
  LinkTask& task_;
  Parameters& parameters_;
};

TEST_P(LinkTraining, HasTheGradientOfItsLoss) {
  const Job job = link_job(GetParam(), 1);
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder_ / "small", 1);
    RankData fresh(job, rank.dataset, rank.prepared, 0);
    fresh.count(comm);
    const Model& model = rank.trainer->model();
    Parameters parameters(model.parameters(), 3);
    auto schedule = make_schedule(
        {rank.ctx, comm, job, model, parameters, fresh.training_part(), fresh.training_vertices(), false});
    for (std::size_t i = 0; i < parameters.trainable().size(); ++i)
      parameters.trainable()[i] += Real(0.1 * (Draws(9, Purpose::kSampling).uniform_at(i, 0) - 0.5));
    LinkTask task(rank.ctx, comm, job, fresh, model);
    PairLossOnly step(task, parameters);
    parameters.zero_gradients(rank.ctx);
    schedule->train(5, step);
    const std::vector<Real> gradient(parameters.gradients().begin(), parameters.gradients().end());
    double largest = 0;
    for (const Real g : gradient) largest = std::max(largest, std::abs(double(g)));
    ASSERT_GT(largest, 1e-4);
    const double pairs = fresh.train.total;  // the gradient is of the mean
    const std::size_t stride = std::max<std::size_t>(1, gradient.size() / 40);
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
      EXPECT_NEAR(gradient[i], (above - below) / (2 * h) / pairs, 2e-7) << "parameter " << i;
    }
  });
}

TEST_P(LinkTraining, IsTheSameOnAnyNumberOfRanksWithAnyPartitioner) {
  const SmallResult one = train(link_job(GetParam(), 1), 12);
  ASSERT_LT(one.losses.back(), one.losses.front()) << "it should learn";
  EXPECT_GT(one.validation, 0);
  for (const auto& [ranks, partitioner] :
       {std::pair(2, "metis"), std::pair(3, "hash"), std::pair(5, "range")})
    expect_same_training(
        one, train(link_job(GetParam(), ranks, {std::string("placement.partitioner=") + partitioner}), 12),
        std::to_string(ranks) + " ranks by " + partitioner);
}

TEST_P(LinkTraining, IsTheSameUnderEveryExactStrategy) {
  const SmallResult one = train(link_job(GetParam(), 1), 8);
  const std::pair<int, std::vector<std::string>> exact[] = {
      {3, {"strategy={kind: cagnet}"}},
      {4, {"strategy={kind: cagnet, cagnet: {replication: 2}}"}},
      {2, {"strategy={kind: bns, bns: {rate: 1}}"}},
      {3, {"strategy={kind: pipegcn, pipegcn: {staleness: 0}}"}},
      {4, {"strategy={kind: granndis, granndis: {maxHop: 0, fanout: -1}}", "placement.ranksPerServer=2"}}};
  for (const auto& [ranks, fields] : exact)
    expect_same_training(one, train(link_job(GetParam(), ranks, fields), 8), fields.front());
}

/// Without the weights, of which ranks under `p3` have some rows each.
SmallResult told(SmallResult result) {
  result.weights.clear();
  return result;
}

/// Which neighbours a layer reads of a batch, and how many pairs it has.
std::vector<std::string> batches(const Job& job, const std::string& kind, const std::string& fanout,
                                 const std::string& options) {
  std::string list;
  for (int l = gathering_layers(job.model); l > 0; --l) list += (list.empty() ? "" : ", ") + fanout;
  return {"strategy={kind: " + kind + ", " + kind + ": {fanout: [" + list + "], " + options + "}}",
          "placement.partitioner={kind: range, parts: 6}"};
}

TEST_P(LinkTraining, InBatchesIsTheSameOnAnyNumberOfRanks) {
  const Job any = link_job(GetParam(), 1);
  const auto mini = batches(any, "minibatch", "2", "batchSize: 31");
  const SmallResult one = train(link_job(GetParam(), 1, mini), 5);
  EXPECT_NE(one.losses.front(), one.losses.back());
  for (const int ranks : {2, 5})
    expect_same_training(one, train(link_job(GetParam(), ranks, mini), 5), std::to_string(ranks) + " ranks",
                         1e-8);
  expect_same_training(told(one),
                       told(train(link_job(GetParam(), 3, batches(any, "p3", "2", "batchSize: 31")), 5)),
                       "p3", 1e-8);
}

TEST_P(LinkTraining, InABatchOfEverythingIsGraph) {
  SmallCase c = GetParam();
  std::ranges::replace(c.fields, std::string("model.norm=batch"), std::string("model.norm=none"));
  const SmallResult graph = train(link_job(c, 1), 5);
  const Job any = link_job(c, 1);
  expect_same_training(graph, train(link_job(c, 3, batches(any, "minibatch", "-1", "batchSize: 100000")), 5),
                       "a batch of everything", 1e-8);
}

/// Against the plain loop of the recurrence. Losses of no pairs, of a dead model or of fresher weights are
/// others.
TEST_P(LinkTraining, InP3sPipelineIsTheRecurrence) {
  constexpr int kEpochs = 5;
  const Job any = link_job(GetParam(), 1);
  for (const PlainRule& rule : {PlainRule{false, 0.05}, PlainRule{true, 0.002}}) {
    SCOPED_TRACE(rule.field());
    auto late = batches(any, "p3", "2", "batchSize: 31, delay: 3"),
         one = batches(any, "minibatch", "2", "batchSize: 31");
    for (auto* const fields : {&late, &one})
      fields->insert(fields->end(), {fmt::format("training.epochs={}", kEpochs), rule.field()});
    const LateStepsResult plain =
        train_by_late_steps(link_job(GetParam(), 1, one), folder_ / "small", rule, kEpochs);
    EXPECT_GT(plain.largest_gradient, 1e-3) << "it should learn to the end";
    for (const int ranks : {1, 2, 3})
      expect_same_training(told(plain.result), told(train(link_job(GetParam(), ranks, late), kEpochs)),
                           fmt::format("{} ranks", ranks), rule.is_adam ? 1e-6 : 1e-8);
    const SmallResult fresh = train(link_job(GetParam(), 1, one), kEpochs);
    EXPECT_GT(std::abs(fresh.losses.back() - plain.result.losses.back()), 1e-6) << "weights are late";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LinkTraining, testing::ValuesIn(every_link_model()),
                         [](const auto& each) { return each.param.name; });

/// Rows of another epoch, or some of them: another result, which learns too.
TEST(StaleLinkTraining, Learns) {
  const SmallCase c{
      "gcn", {"training.dropout=0"}, {.arc_share = 0.1, .labelled = false, .split = false, .edges = true}};
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  for (const char* strategy : {"{kind: pipegcn}", "{kind: bns, bns: {rate: 0.5}}", "{kind: sancus}",
                               "{kind: granndis, granndis: {fanout: 2}}"}) {
    const Job job = link_job(c, 4, {std::string("strategy=") + strategy});
    const SmallResult result = train_small(job, folder / "small", 4, 30);
    EXPECT_LT(result.losses.back(), 0.95 * result.losses.front()) << strategy;
  }
}

/// Where parts are on other ranks than their own.
TEST(LinkTrainingOfParts, IsTheSameInAnyOrder) {
  const SmallCase c{"sage", {"model.kind=sage"}, {.labelled = false, .split = false, .edges = true}};
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  const Job job = link_job(c, 3);
  expect_same_training(train_small(job, folder / "small", 3, 5),
                       train_small(job, folder / "small", 3, 5, 1, {2, 0, 1}), "turned");
}

}  // namespace
}  // namespace atl
