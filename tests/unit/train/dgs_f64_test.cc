// Strategy `dgs` through the whole trainer: where it equals `minibatch`, where it doesn't, and that neither
// time nor threads change a bit.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "strategies/schedule/batch_counts.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

const SmallCase kSage{"sage", {"model.kind=sage"}, {.features = 20}};

class Explained : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(const Job& job, int epochs, int threads = 1) {
    return train_small(job, folder_ / "small", job.placement.ranks, epochs, threads);
  }
  TemporaryFolder folder_;
};

/// The same job under `minibatch`, with what it fetches of features.
Job minibatch_job(const SmallCase& c, int ranks, const std::string& rate) {
  std::vector<std::string> fields = c.fields;
  std::string list;
  for (int layers = gathering_layers(small_job(fields).model); layers > 0; --layers)
    list += list.empty() ? "2" : ", 2";
  fields.insert(fields.end(), {"strategy.kind=minibatch", "strategy.minibatch.fanout=[" + list + "]",
                               "strategy.minibatch.batchSize=7", "strategy.minibatch.featureRate=" + rate,
                               fmt::format("placement.ranks={}", ranks)});
  return small_job(fields);
}

/// Three steps an epoch, masks from step 4 on: another run in the second epoch, and the same however it is
/// made.
TEST_P(Explained, TrainsTheSameWhateverThreadsDo) {
  for (const int ranks : {2, 3}) {
    SCOPED_TRACE(ranks);
    const SmallResult one = train(dgs_job(GetParam(), ranks), 6);
    for (const double loss : one.losses) EXPECT_TRUE(std::isfinite(loss));
    const SmallResult other =
        train(dgs_job(GetParam(), ranks, {"strategy.dgs.prefetch=20", "strategy.dgs.threads=3"}), 6, 3);
    EXPECT_EQ(other.losses, one.losses);
    EXPECT_EQ(other.weights, one.weights);
    const SmallResult plain = train(minibatch_job(GetParam(), ranks, "1"), 6);
    EXPECT_EQ(plain.losses[0], one.losses[0]) << "no masks apply before step 4";
    EXPECT_NE(plain.losses[3], one.losses[3]);
  }
}

/// Nothing is remote.
TEST_P(Explained, OnOneRankIsMinibatch) {
  const SmallResult one = train(dgs_job(GetParam(), 1), 3);
  const SmallResult plain = train(minibatch_job(GetParam(), 1, "0.5"), 3);
  EXPECT_EQ(one.losses, plain.losses);
  EXPECT_EQ(one.weights, plain.weights);
}

INSTANTIATE_TEST_SUITE_P(Models, Explained, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Data, Explained,
    testing::Values(
        SmallCase{"weighted_directed", {"model.kind=gat"}, {.weighted = true, .symmetric = false}},
        SmallCase{"inductive", {"model.kind=sage", "training.setting=inductive"}, {.arc_share = 0.2}},
        SmallCase{"several_labels",
                  {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                  {.multi_label = true}},
        SmallCase{"half", {"strategy.wire=bfloat16"}}),
    [](const auto& each) { return each.param.name; });

class Settings : public testing::Test {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", kSage.data); }
  SmallResult train(const Job& job, int epochs = 5) {
    return train_small(job, folder_ / "small", job.placement.ranks, epochs);
  }
  std::vector<double> losses(std::vector<std::string> more) { return train(dgs_job(kSage, 3, more)).losses; }
  TemporaryFolder folder_;
};

/// Random vertices with all features are `minibatch`; with some, its +RF.
TEST_F(Settings, RandomVerticesAndFeaturesAreMinibatch) {
  const auto random = [&](const std::string& rate) {
    return losses({"strategy.dgs={vertices: random, features: random}", "strategy.dgs.featureRate=" + rate,
                   "strategy.dgs.fanout=[2, 2, 2]", "strategy.dgs.batchSize=7"});
  };
  const std::vector<double> all = train(minibatch_job(kSage, 3, "1")).losses,
                            some = train(minibatch_job(kSage, 3, "0.5")).losses;
  EXPECT_EQ(random("1"), all);
  EXPECT_EQ(random("0.5"), some);
  EXPECT_NE(all, some);
}

/// Each option changes what is trained, and what it doesn't concern stays.
TEST_F(Settings, EachIsAnotherRun) {
  const std::vector<std::vector<std::string>> settings{
      {},
      {"strategy.dgs.featureRate=1"},    // vertices alone
      {"strategy.dgs.vertices=random"},  // features alone
      {"strategy.dgs.features=random"},
      {"strategy.dgs.epsilon=0.5"},
      {"strategy.dgs.split=mask"},
      {"strategy.dgs.fill=mean"},
      {"strategy.dgs.replace=true"},
      {"strategy.dgs.explainEvery=5"},
      {"strategy.dgs.explainEpochs=40", "strategy.dgs.explainRate=0.5"},
      {"strategy.dgs.explainEpochs=40", "strategy.dgs.explainRate=0.5", "strategy.dgs.probability=mask"}};
  std::vector<std::vector<double>> all;
  for (const auto& each : settings) all.push_back(losses(each));
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(all[a], all[b]) << "settings " << a << " and " << b;
  EXPECT_EQ(losses({"strategy.dgs.lossThreshold=1000"}),
            losses({"strategy.dgs.lossThreshold=2000", "strategy.dgs.explainRate=3"}))
      << "masks that aren't trained are one half, whatever their learning rate";
}

/// 20 features: 17 of others' rows are fetched once masks apply, all before; and each rank tells the others
/// which.
TEST_F(Settings, FetchTheColumnsThatMatterAlone) {
  const Job job = dgs_job(kSage, 3, {"strategy.dgs.vertices=random", "strategy.dgs.prefetch=1"});
  const Job plain = minibatch_job(kSage, 3, "1");
  const auto sent = [&](const Job& of, std::int64_t steps) {
    std::vector<std::int64_t> bytes(3), fetched(3);
    run_ranks(3, [&](Communicator& comm) {
      Job ends = of;
      ends.training.epochs = 1 + (steps - 1) / 3;
      SmallRank rank(comm, ends, folder_ / "small", 1);
      const Ledger before = comm.ledger();
      for (std::int64_t step = 1; step <= ends.training.epochs * 3; ++step)
        rank.trainer->train_step(step, 0.01);
      bytes[std::size_t(comm.rank())] = comm.ledger().bytes(Link::kIntra, Traffic::kFeatures) -
                                        before.bytes(Link::kIntra, Traffic::kFeatures);
      fetched[std::size_t(comm.rank())] = rank.trainer->figures<BatchCounts>()->fetched_rows;
    });
    return std::pair(std::accumulate(bytes.begin(), bytes.end(), std::int64_t(0)),
                     std::accumulate(fetched.begin(), fetched.end(), std::int64_t(0)));
  };
  const auto [all, rows] = sent(plain, 12);
  const auto [some, same_rows] = sent(job, 12);
  EXPECT_EQ(rows, same_rows) << "vertices are drawn alike";
  // Twelve steps, the first four of them with all columns.
  const auto [first, first_rows] = sent(plain, 3);
  EXPECT_LT(some, all);
  const std::int64_t told = 2 * 3 * 2 * 17 * 4;  // masks change twice: three ranks tell two others
  const std::int64_t saved = all + told - some;
  EXPECT_EQ(saved % (3 * Index(sizeof(Real))), 0);
  EXPECT_LE(saved / (3 * Index(sizeof(Real))), rows - first_rows)
      << "three columns less of each row of others";
  EXPECT_GE(saved / (3 * Index(sizeof(Real))), (rows - first_rows) / 2);
}

/// A checkpoint's masks and what the explanation under way began with: rows_resume_test.cc. Here: a step that
/// the job's epochs don't have.
TEST_F(Settings, TrainBeyondTheJobsEpochs) {
  const auto of = [&](const std::string& epochs) { return losses({epochs}); };
  EXPECT_EQ(of("training.epochs=1"), of("training.epochs=9"));
}

/// Steps that aren't trained in their order begin without masks.
TEST_F(Settings, AnyStepMayBeTheFirst) {
  const Job job = dgs_job(kSage, 3, {"training.epochs=30"});
  std::vector<double> jumped, first;  // rank 0's
  run_ranks(3, [&](Communicator& comm) {
    for (std::vector<double>* const losses : {&jumped, &first}) {
      SmallRank rank(comm, job, folder_ / "small", 1);
      const auto train = [&](std::int64_t step) {
        const double loss = rank.trainer->train_step(step, 0);
        if (comm.rank() == 0) losses->push_back(loss);
      };
      if (losses == &jumped)
        for (const int step : {1, 2, 3, 4, 5, 6, 5, 5}) train(step);
      losses->clear();
      for (const int step : {21, 22, 23, 24, 25}) train(step);
    }
  });
  EXPECT_EQ(jumped, first);
}

/// Makers wait for masks that never begin where a run ends before: they are let go.
TEST_F(Settings, ARunMayEndInAnyStep) {
  for (const int steps : {1, 3, 4, 5, 7, 8})
    run_ranks(3, [&](Communicator& comm) {
      const Job job = dgs_job(kSage, 3, {"strategy.dgs.prefetch=40", "training.epochs=30"});
      SmallRank rank(comm, job, folder_ / "small", 1);
      for (int step = 1; step <= steps; ++step) rank.trainer->train_step(step, 0.01);
    });
}

/// More is fetched of columns than there are, fewer than one: whatever the rate says, one at least.
TEST_F(Settings, OneColumnIsFetchedAtLeast) {
  for (const double loss : losses({"strategy.dgs.featureRate=0.0001"})) EXPECT_TRUE(std::isfinite(loss));
}

}  // namespace
}  // namespace atl
