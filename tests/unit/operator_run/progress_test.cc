// How a rank's report is read, which may be anything.
#include "operator/run/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator_kube/scripted_server.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

TEST(Progress, IsReadFromARanksPage) {
  const auto progress = read_progress(
      R"({"state": "training", "epoch": 3, "epochs": 10, "loss": 1.5, "validation": null, "epochSeconds": 0.2,
          "etaSeconds": 304, "lastCheckpointEpoch": 2, "bytes": {"intra": 10, "inter": 20}})");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->epoch, 3);
  EXPECT_EQ(progress->loss, 1.5);
  EXPECT_EQ(progress->validation, std::nullopt);
  EXPECT_EQ(progress->eta, "5m4s");
  EXPECT_EQ(progress->last_checkpoint_epoch, 2);
  EXPECT_EQ(progress->inter_server_bytes, 20);
}

TEST(Progress, IsNotMadeOfNonsense) {
  for (const char* text : {"", "[]", "null", "{", "{}", R"({"epoch": "3", "epochs": 10})",
                           R"({"epoch": 11, "epochs": 10})", R"({"epoch": -1, "epochs": 10})"})
    EXPECT_FALSE(read_progress(text)) << text;
  const auto odd =
      read_progress(R"({"epoch": 1, "epochs": 2, "loss": "low", "etaSeconds": 1e300, "bytes": 7})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->loss, std::nullopt);
  EXPECT_EQ(odd->eta, "");
}

TEST(Progress, IsNotWaitedForLong) {
  kube::ScriptedServer silent([](kube::Peering& p) { p.wait_for_close(); });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(ask_for_progress(silent.address()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

TEST(Progress, OfAJobThatGoesWhileItIsAskedForIsForgotten) {
  Stage stage;
  stage.submit("cora");
  stage.run(200, [&] { return stage.state() == "Running"; });
  ProgressPoller* own = nullptr;
  ProgressPoller poller(stage.controller->caches(), 9400,
                        {.ask = [&](const std::string&) -> std::optional<std::string> {
                           own->forget("team/cora");
                           return {};
                         },
                         .on_news = [](const std::string&) {}});
  own = &poller;
  poller.poll_prompt(stage.cluster.now);
  EXPECT_EQ(poller.size(), 1U) << "what was asked comes later than the job's end";
  stage.cluster.objects.erase({Kind::kJob, "cora"});
  stage.work();
  poller.poll_prompt(stage.cluster.now);
  EXPECT_EQ(poller.size(), 0U);
}

/// Four jobs that run, of which all but c take as long as an answer is waited for, and a poller that asks one
/// at a time in each lane.
struct ProgressInLanes : testing::Test {
  Stage stage;
  const std::vector<std::string> jobs = {"a", "b", "c", "d"};
  std::mutex mutex;
  std::map<std::string, int> asked;  // by address
  std::set<std::string> silent;      // addresses
  std::function<void()> on_slow = [] {};
  std::map<std::string, int> news;  // by job
  const Ask ask = [this](const std::string& of) -> std::optional<std::string> {
    {
      std::lock_guard lock(mutex);
      ++asked[of];
    }
    if (of == address("c")) return R"({"epoch": 7, "epochs": 200})";
    on_slow();
    stage.clock.advance(std::chrono::seconds(2));
    if (silent.contains(of)) return {};
    return R"({"epoch": 8, "epochs": 200})";
  };
  ProgressPoller poller{stage.controller->caches(),
                        9400,
                        {.ask = ask,
                         .on_news = [this](const std::string& job) { ++news[job]; },
                         .at_once = 1,
                         .clock = &stage.clock}};

  void SetUp() override {
    stage.cluster.training.seconds = 1000;
    for (const std::string& job : jobs) stage.submit(job, {{"/spec/placement/ranks", 2}});
    const auto runs = [&](const std::string& job) { return stage.state(job) == "Running"; };
    stage.run(300, [&] { return std::ranges::all_of(jobs, runs); });
    poller.poll_prompt(stage.cluster.now);
    ASSERT_EQ(asked.size(), 4U) << "nothing is known of any yet";
    asked.clear();
  }
  std::string address(const std::string& job) {
    const json& pod = stage.cluster.pods.at(job + "-0-0");
    return "http://" + pod.at("status").at("podIP").get<std::string>() + ":9400";
  }
};

TEST_F(ProgressInLanes, IsAskedOfPromptJobsWhileSlowOnesAnswer) {
  std::binary_semaphore begun(0), may_end(0);
  on_slow = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    begun.release();
    may_end.acquire();
  };
  std::jthread slow([&] { poller.poll_slow(stage.cluster.now); });
  begun.acquire();
  for (int round = 0; round < 3; ++round) poller.poll_prompt(stage.cluster.now);
  {
    std::lock_guard lock(mutex);
    EXPECT_EQ(asked[address("c")], 3) << "nobody's slow page costs it a turn";
    EXPECT_EQ(asked.size(), 2U) << "it, and the one that is being waited for";
  }
  may_end.release();
}

TEST_F(ProgressInLanes, IsAskedOfEverySlowJobInEachRound) {
  for (int round = 0; round < 3; ++round) poller.poll_slow(stage.cluster.now);
  for (const char* job : {"a", "b", "d"}) EXPECT_EQ(asked[address(job)], 3) << job;
  EXPECT_EQ(asked[address("c")], 0);
}

/// Whoever has lost its lease would else wait for the whole round before it may contend again.
TEST_F(ProgressInLanes, AfterAStopNoOtherJobIsAsked) {
  std::stop_source stop;
  on_slow = [&] { stop.request_stop(); };
  poller.poll_slow(stage.cluster.now, stop.get_token());
  EXPECT_EQ(asked.size(), 1U) << "the one that was asked just then";
}

/// A round of slow jobs may take minutes.
TEST_F(ProgressInLanes, AnAnswerIsAsOldAsItIsAndNotAsItsRound) {
  const Moment begin = stage.cluster.now;
  poller.poll_slow(begin);
  std::set<Moment> answers;
  for (const char* job : {"a", "b", "d"}) answers.insert(poller.heard(std::string("team/") + job)->answered);
  EXPECT_EQ(answers, (std::set{begin + Seconds(2), begin + Seconds(4), begin + Seconds(6)}));
}

TEST_F(ProgressInLanes, QuestionsWithoutAnAnswerAreCountedUntilOneComes) {
  silent = {address("a")};
  news.clear();
  for (int round = 0; round < kMissedToBeUnheard - 1; ++round) poller.poll_slow(stage.cluster.now);
  EXPECT_EQ(poller.heard("team/a")->missed, kMissedToBeUnheard - 1);
  EXPECT_EQ(news["team/a"], 0);
  poller.poll_slow(stage.cluster.now);
  EXPECT_EQ(news["team/a"], 1) << "now it may be called unheard";
  poller.poll_slow(stage.cluster.now);
  EXPECT_EQ(news["team/a"], 1);
  EXPECT_EQ(poller.heard("team/b")->missed, 0);
  silent.clear();
  poller.poll_slow(stage.cluster.now);
  EXPECT_EQ(poller.heard("team/a")->missed, 0);
  EXPECT_EQ(news["team/a"], 2);
}

/// Its node is lost. Nobody can be asked, which is no answer either.
TEST_F(ProgressInLanes, OfAJobWhosePodsAreGoneIsMissed) {
  for (const std::string& pod : stage.cluster.pods_of("a", kWorkerRole)) {
    stage.cluster.pods.at(pod)["status"]["phase"] = "Unknown";
    stage.cluster.touch(Kind::kPod, pod);
  }
  stage.api.push(stage.controller->caches());
  const std::string gone = address("a");
  for (int round = 0; round < 2; ++round) {
    poller.poll_slow(stage.cluster.now);
    poller.poll_prompt(stage.cluster.now);
  }
  EXPECT_EQ(asked[gone], 0) << "there is nobody to be asked";
  EXPECT_GE(poller.heard("team/a")->missed, 2);
  for (const char* job : {"b", "d"}) EXPECT_EQ(asked[address(job)], 2) << job;
}

TEST(Progress, IsNotReadBeyondItsLimit) {
  kube::ScriptedServer verbose([](kube::Peering& p) {
    p.request();
    p.answer(std::string(65 << 10, 'x'), "200 OK");
  });
  EXPECT_FALSE(ask_for_progress(verbose.address()));
  kube::ScriptedServer fair([](kube::Peering& p) {
    p.request();
    p.answer("{}", "200 OK");
  });
  EXPECT_EQ(ask_for_progress(fair.address()), "{}");
}

}  // namespace
}  // namespace atl::ctl
