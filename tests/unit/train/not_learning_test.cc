#include "train/not_learning.h"

#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

using testing::HasSubstr;

std::vector<EpochRecord> losses(const std::vector<double>& each) {
  std::vector<EpochRecord> epochs;
  for (const double loss : each) {
    epochs.emplace_back();
    epochs.back().epoch = Index(epochs.size());
    epochs.back().loss = loss;
  }
  return epochs;
}

TEST(NotLearning, IsToldOfALossThatHasNotFallen) {
  const Job job = small_job({});
  EXPECT_THAT(not_learning(job, losses({2, 1.999, 2.1, 2, 2}), 0), HasSubstr("hasn't fallen in 5 epochs"));
  EXPECT_EQ(not_learning(job, losses({2, 2.5, 1.9, 2, 2.2}), 0), "");
  EXPECT_EQ(not_learning(job, {}, 0), "");
  EXPECT_EQ(not_learning(job, losses({0, 0, 0, 0, 0}), 0), "")
      << "data of one class, which is told of before";
}

TEST(NotLearning, NamesWhatIsLikeliestForTheManifest) {
  const auto told = [](const std::vector<std::string>& fields) {
    return not_learning(small_job(fields), losses({2, 2, 2, 2, 2}), 0);
  };
  EXPECT_THAT(told({"training.optimizer.learningRate=0.5"}),
              HasSubstr(": lower training.optimizer.learningRate (0.5), or set model.norm: layer"));
  EXPECT_THAT(told({"training.optimizer.learningRate=0.00001", "model.norm=layer", "training.dropout=0.9"}),
              HasSubstr(": raise training.optimizer.learningRate (1e-05), or lower training.dropout (0.9)"));
}

/// A model that has died says always the same, which is worse than what it began with by chance only.
TEST(NotLearning, IsToldOfALossThatStaysAtTheLabelsEntropy) {
  const Job job = small_job({});
  const double ln2 = std::log(2.0);
  EXPECT_THAT(
      not_learning(job, losses({0.9, 0.72, 0.6933, 0.6931, 0.6932}), ln2),
      HasSubstr(
          "after 5 epochs the loss is 0.6932, no better than saying always how often each label occurs (0.6931)"));
  EXPECT_EQ(not_learning(job, losses({0.9, 0.72, 0.6933, 0.6931, 0.6932}), 0), "");
  EXPECT_EQ(not_learning(job, losses({0.9, 0.8, 0.72, 0.70, 0.68}), ln2), "") << "below it at last";
  EXPECT_EQ(not_learning(job, losses({3, 2.6, 2.2, 2.0, 1.8}), ln2), "") << "above it, but falling";
  EXPECT_THAT(not_learning(job, losses({3, 2.0, 1.2, 1.21, 1.2}), ln2), HasSubstr("the loss is 1.2,"));
}

/// It may die later, and is told once.
TEST(NotLearning, IsLookedAtAgainWhenTwiceAsManyEpochsHavePassed) {
  const Job job = small_job({});  // 20 epochs
  std::vector<double> run{0.9, 0.6, 0.5, 0.5, 0.4};
  const double ln2 = std::log(2.0);
  std::vector<Index> told;
  for (Index epoch = 6; epoch <= 20; ++epoch) {
    run.push_back(ln2);
    if (!not_learning(job, losses(run), ln2).empty()) told.push_back(epoch);
  }
  EXPECT_THAT(told, testing::ElementsAre(10));
}

TEST(NotLearning, NamesTheRateThatLateGradientsAllow) {
  const auto told = [](const std::string& rate) {
    return not_learning(
        small_job({"strategy={kind: p3, p3: {delay: 3}}", "training.optimizer.learningRate=" + rate}),
        losses({0.9, 0.7, 0.7, 0.7, 0.7}), 0.69);
  };
  EXPECT_THAT(
      told("0.01"),
      HasSubstr(
          ": lower training.optimizer.learningRate (0.01) to 0.003 or less, or set strategy.p3.delay: 0"));
  EXPECT_THAT(told("0.003"), HasSubstr(": set strategy.p3.delay: 0"));
}

/// As amazon_computers does in P3's pipeline at 0.003: 40 epochs, and the labels' entropy isn't reached.
TEST(NotLearning, IsToldAtTheEndThoughTheLossStillFalls) {
  const Job job = small_job({"training.epochs=10"});
  const std::vector<double> run{5.38, 2.6, 2.04, 1.99, 1.95, 1.93, 1.91, 1.89, 1.88, 1.87};
  EXPECT_THAT(not_learning(job, losses(run), 1.865),
              HasSubstr("after 10 epochs the loss is 1.87, no better"));
  EXPECT_EQ(not_learning(job, losses({run.begin(), run.end() - 1}), 1.865), "") << "it may fall on";
  EXPECT_EQ(not_learning(job, losses(run), 1.95), "");
}

/// Messages of a run.
class Listener final : public RunObserver {
 public:
  void on_message(MessageLevel, const std::string& text) override { told.push_back(text); }
  std::vector<std::string> told;
};

TEST(NotLearning, ARunSaysItOnce) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  SessionOptions o;
  o.job = small_job(
      {"training.epochs=20", "training.dropout=0", "training.optimizer={kind: sgd, learningRate: 1e-9}"});
  o.job_yaml = "small";
  o.dataset = folder / "small";
  o.output = folder / "run";
  std::filesystem::create_directories(o.output);
  const Dataset dataset = Dataset::open(o.dataset);
  PreparedGraph::make(dataset, partition_options(o.job, 1), graph_transforms(o.job),
                      training_marks(dataset, o.job));
  Listener listener;
  o.observer = &listener;
  run_ranks(1, [&](Communicator& comm) { run_session(comm, o); });
  EXPECT_THAT(listener.told,
              testing::ElementsAre(HasSubstr("raise training.optimizer.learningRate (1e-09)")));
}

/// Features without values: no model can tell vertices apart, but its bias learns how often each class
/// occurs, well below the first loss.
TEST(NotLearning, IsToldUnderEveryStrategy) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.feature_scale = 0});
  for (const std::string strategy :
       {"{kind: graph}", "{kind: pipegcn}", "{kind: bns}", "{kind: gnnpipe, gnnpipe: {stages: 1, chunks: 2}}",
        "{kind: granndis}", "{kind: minibatch}", "{kind: p3, p3: {delay: 3}}", "{kind: cagnet}",
        "{kind: sancus}", "{kind: dgs}", "{kind: minibatch, minibatch: {sampler: saintWalk}}",
        "{kind: minibatch, minibatch: {sampler: saintEdge}}"}) {
    SessionOptions o;
    o.job = small_job({"strategy=" + strategy, "placement={ranks: 2, partitioner: hash}",
                       "training={epochs: 80, dropout: 0, optimizer: {learningRate: 0.05}}"});
    o.job_yaml = "small";
    o.dataset = folder / "small";
    o.output = folder / "run";
    std::filesystem::remove_all(o.output);
    std::filesystem::create_directories(o.output);
    const Dataset dataset = Dataset::open(o.dataset);
    PreparedGraph::make(dataset, partition_options(o.job, 2), graph_transforms(o.job),
                        training_marks(dataset, o.job));
    Listener listener, others;
    run_ranks(2, [&](Communicator& comm) {
      SessionOptions mine = o;
      mine.observer = comm.rank() == 0 ? &listener : &others;
      run_session(comm, mine);
    });
    // Where gradients are late, the rule for them begins with short steps: so high a rate is told of first.
    const bool is_late = strategy.find("delay") != std::string::npos;
    EXPECT_THAT(listener.told,
                testing::Contains(
                    HasSubstr(is_late ? "or set strategy.p3.delay: 0, for this strategy's gradients are late"
                                      : "no better than saying always how often each label occurs")))
        << strategy;
  }
}

double without_input(const SmallData& data, const std::vector<std::string>& fields, int ranks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", data);
  std::vector<std::string> all{fmt::format("placement.ranks={}", ranks)};
  all.insert(all.end(), fields.begin(), fields.end());
  const Job job = small_job(all);
  double loss = 0;
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const double mine = loss_without_input(comm, job, rank.data);
    if (comm.rank() == 0) loss = mine;
  });
  return loss;
}

/// The labels' entropy, counted here from the data set's own arrays.
TEST(NotLearning, KnowsTheLossWithoutInput) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Dataset dataset = Dataset::open(folder / "small");
  std::vector<double> counts(3, 0);
  double all = 0, entropy = 0;
  for (Index v = 0; v < dataset.meta().vertices; ++v)
    if (dataset.split("default").at(v, 0) == std::uint8_t(Split::kTrain) &&
        dataset.labels()[std::size_t(v)] >= 0)
      ++counts[std::size_t(dataset.labels()[std::size_t(v)])], ++all;
  for (const double count : counts) entropy -= count / all * std::log(count / all);
  for (const int ranks : {1, 3}) {
    EXPECT_NEAR(without_input({}, {}, ranks), entropy, 1e-12);
    EXPECT_NEAR(without_input({}, {"strategy.kind=minibatch"}, ranks), entropy, 1e-12);
  }
  EXPECT_NEAR(without_input({.edges = true}, {"task=linkPrediction"}, 2), std::log(2.0), 1e-12);
  EXPECT_NEAR(without_input({.edges = true}, {"task=linkPrediction", "linkPrediction.negatives=3"}, 2),
              -(0.25 * std::log(0.25) + 0.75 * std::log(0.75)), 1e-12);
  // Three labels, each on about 0.4 of the vertices.
  EXPECT_NEAR(without_input({.vertices = 900, .multi_label = true},
                            {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"}, 2),
              -3 * (0.4 * std::log(0.4) + 0.6 * std::log(0.6)), 0.05);
}

}  // namespace
}  // namespace atl
