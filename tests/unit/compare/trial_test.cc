// A trial gives the result that a run would have given.
#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "train/small_job.h"

namespace atl {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

class TrialOfSmall : public testing::Test {
 protected:
  TrialOfSmall() { write_small_data(folder_ / "small", {.vertices = 200}); }

  std::vector<TrialPoint> curve(const std::vector<std::string>& fields, int ranks, std::int64_t steps,
                                double wanted = kNothing) {
    std::vector<std::string> all{"placement.ranks=" + std::to_string(ranks)};
    all.insert(all.end(), fields.begin(), fields.end());
    const Job job = small_job(all);
    const Dataset dataset = Dataset::open(folder_ / "small");
    const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, ranks),
                                                       graph_transforms(job), training_marks(dataset, job));
    return train_for(job, dataset, prepared, std::vector<std::string>(std::size_t(ranks), "here"),
                     {steps, wanted, seconds_, when_settled_})
        .points;
  }
  double seconds_ = kNothing;  // that a trial has
  bool when_settled_ = false;
  TemporaryFolder folder_;
};

TEST_F(TrialOfSmall, IsARunsValidation) {
  const auto points = curve({}, 2, 6);
  ASSERT_EQ(points.size(), 3U) << "every second epoch";
  EXPECT_EQ(points.back().steps, 6);
  const Job job = small_job({"placement.ranks=2"});
  const SmallResult run = train_small(job, folder_ / "small", 2, 6);
  EXPECT_DOUBLE_EQ(points.back().validation, run.validation);
}

TEST_F(TrialOfSmall, EndsWhereItIsGoodEnough) {
  const auto all = curve({}, 1, 20);
  const double first = all.front().validation;
  EXPECT_EQ(curve({}, 1, 20, first).size(), 1U);
}

std::vector<TrialPoint> every_second_step(const std::vector<double>& metrics) {
  std::vector<TrialPoint> points;
  for (const double each : metrics) points.push_back({2 * std::int64_t(points.size() + 1), each});
  return points;
}

/// Near its best after 8 steps, and still there after 20; or first after 12, and it may go on rising.
TEST(TrialCurve, IsSettledWhenItStaysAsLongAsItRose) {
  EXPECT_TRUE(is_settled(every_second_step({.2, .4, .6, .799, .8, .8, .797, .8, .803, .8})));
  EXPECT_FALSE(is_settled(every_second_step({.2, .4, .6, .799, .8, .8, .797, .8, .803})))
      << "18 steps are few";
  EXPECT_FALSE(is_settled(every_second_step({.2, .3, .4, .5, .6, .798, .8, .8, .8, .8, .8})));
  EXPECT_TRUE(is_settled(every_second_step({.2, .3, .4, .5, .6, .798, .8, .8, .8, .8, .8, .8})));
}

/// A deep model's first steps change nothing.
TEST(TrialCurve, IsNotSettledBeforeItHasRisen) {
  EXPECT_FALSE(is_settled(every_second_step(std::vector<double>(30, 0.12))));
  EXPECT_FALSE(is_settled({}));
}

TEST_F(TrialOfSmall, EndsWhenItIsSettled) {
  const auto whole = curve({}, 1, 200);
  std::size_t first = 1;
  while (first < whole.size() && !is_settled({whole.begin(), whole.begin() + std::ptrdiff_t(first)})) ++first;
  EXPECT_LT(first, whole.size()) << "the case must show something";
  when_settled_ = true;
  EXPECT_EQ(curve({}, 1, 200).size(), first);
}

TEST_F(TrialOfSmall, EndsWhenItsTimeIsOverAfterAStep) {
  seconds_ = 0;
  EXPECT_TRUE(curve({}, 3, 1'000'000).empty());
  seconds_ = 0.2;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(curve({}, 2, 1'000'000).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30))
      << "a million steps take longer";
}

TEST_F(TrialOfSmall, StepsOfBatchesCount) {
  const auto points = curve({"strategy.kind=minibatch", "strategy.minibatch.batchSize=20"}, 2, 15);
  ASSERT_FALSE(points.empty());
  EXPECT_GT(points.front().steps, 1) << "evaluated when the epoch is over";
  EXPECT_LE(points.back().steps, 15);
  EXPECT_TRUE(curve({"strategy.kind=minibatch", "strategy.minibatch.batchSize=2"}, 2, 5).empty())
      << "no epoch ends";
}

TEST_F(TrialOfSmall, ALossThatIsntFiniteEndsIt) {
  std::filesystem::remove_all(folder_ / "small");
  write_small_data(folder_ / "small", {.vertices = 200, .feature_scale = 1e38});
  EXPECT_LT(curve({"model.norm=none", "model.kind=gin"}, 2, 40).size(), 20U);
}

/// As long as it lives, the process can start three threads and no fourth: each takes 1 GiB of addresses for
/// its stack, and 3.5 GiB are left. (A limit on processes wouldn't bind root.)
class ThreeThreads {
 public:
  ThreeThreads() {
    getrlimit(RLIMIT_AS, &addresses_);
    pthread_getattr_default_np(&stacks_);
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, std::size_t(1) << 30);
    pthread_setattr_default_np(&large);
    pthread_attr_destroy(&large);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * rlim_t(sysconf(_SC_PAGESIZE)) + (rlim_t(7) << 29), addresses_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~ThreeThreads() {
    setrlimit(RLIMIT_AS, &addresses_);
    pthread_setattr_default_np(&stacks_);
    pthread_attr_destroy(&stacks_);
  }
  ThreeThreads(const ThreeThreads&) = delete;

 private:
  rlimit addresses_{};
  pthread_attr_t stacks_{};
};

/// Ranks that had started waited five minutes for those that hadn't.
TEST_F(TrialOfSmall, AThreadThatCantBeStartedIsToldAndNobodyWaits) {
  const Job job = small_job({"placement.ranks=6"});
  const Dataset dataset = Dataset::open(folder_ / "small");
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, 6),
                                                     graph_transforms(job), training_marks(dataset, job));
  const std::vector<std::string> hosts(6, "here");
  const auto begin = std::chrono::steady_clock::now();
  std::string told;
  {
    const ThreeThreads few;
    try {
      train_for(job, dataset, prepared, hosts, {.steps = 4});
    } catch (const Error& error) {
      told = error.what();
    }
  }
  EXPECT_THAT(
      told, testing::HasSubstr("a trial trains on 6 ranks of two threads each, and one can't be started: "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_FALSE(train_for(job, dataset, prepared, hosts, {.steps = 4}).points.empty())
      << "with threads enough";
}

TEST_F(TrialOfSmall, AnErrorOfARankIsToldAndNobodyWaits) {
  EXPECT_THROW(curve({"dataset.split=elsewhere"}, 3, 4), Error);
}

}  // namespace
}  // namespace atl
