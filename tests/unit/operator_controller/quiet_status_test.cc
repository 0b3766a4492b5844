// What is new in numbers alone isn't written each time; everything else is told at once.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

/// A gang that waits, told so with these words before.
class QuietWords : public Decide {
 protected:
  void SetUp() override {
    submit();
    words_ = "needs 2 servers; the cluster has room for 1";
    world.atoll.add = [this](Observed&) {
      world.atoll.view.of.plan = [this](const Gang&) { return GangPlan{.reasons = {words_}}; };
    };
    world.atoll.run(60, [&] { return world.atoll.state() == "Waiting"; });
  }
  /// What is decided where the status was written so long ago.
  Decision hear(const std::string& words, std::optional<int> written_seconds_ago) {
    words_ = words;
    return decide_on([=](Observed& seen) {
      if (written_seconds_ago) seen.wrote_status = seen.now - Seconds(*written_seconds_ago);
    });
  }
  /// What is decided a second after this status was written.
  Decision decide_on_words(const Status& written, const std::string& words) {
    words_ = words;
    return decide_on([&](Observed& seen) {
      seen.job.status = written;
      seen.wrote_status = seen.now - Seconds(1);
    });
  }

 private:
  std::string words_;
};

TEST_F(QuietWords, NumbersAreWrittenOnceInTenMinutes) {
  const Decision early = hear("needs 2 servers; the cluster has room for 0", 500);
  EXPECT_FALSE(early.status);
  EXPECT_LE(early.requeue_at, world.cluster.now + Seconds(100)) << "then they are";
  const Decision late = hear("needs 2 servers; the cluster has room for 0", 600);
  EXPECT_EQ(condition(late, kPlaced).message, "needs 2 servers; the cluster has room for 0");
}

TEST_F(QuietWords, OtherWordsAreWrittenAtOnce) {
  const Decision decision = hear("needs 2 servers; n1 is cordoned", 1);
  EXPECT_EQ(condition(decision, kPlaced).message, "needs 2 servers; n1 is cordoned");
}

TEST_F(QuietWords, AnotherNodeOrJobIsNoNumber) {
  const std::pair<const char*, const char*> changes[] = {
      {"2 servers; n1 is cordoned", "2 servers; n7 is cordoned"},
      {"2 servers; freeing gpu-node-3 would do", "2 servers; freeing gpu-node-12 would do"},
      {"room is reserved for team/job-1", "room is reserved for team/job-12"}};
  for (const auto& [before, after] : changes) {
    const Decision first = hear(before, 600);
    ASSERT_EQ(condition(first, kPlaced).message, before);
    const Decision next = decide_on_words(*first.status, after);
    ASSERT_TRUE(next.status) << after;
    EXPECT_EQ(condition(next, kPlaced).message, after);
  }
}

TEST_F(QuietWords, NumbersWithUnitsAreNumbers) {
  const Decision first = hear("each needs 2.5 cpu, 16Gi memory; 0.5 cpu are free", 600);
  ASSERT_TRUE(first.status);
  EXPECT_FALSE(decide_on_words(*first.status, "each needs 2.5 cpu, 16Gi memory; 12.25 cpu are free").status);
}

TEST_F(QuietWords, AnOperatorThatHasJustStartedWritesWhatItFinds) {
  EXPECT_TRUE(hear("needs 2 servers; the cluster has room for 0", std::nullopt).status);
}

class QuietProgress : public Decide {
 protected:
  void SetUp() override { train(); }
  Decision hear(int epoch, int written_seconds_ago, const std::function<void(Observed&)>& change = {}) {
    return decide_on([&](Observed& seen) {
      Progress progress{.epoch = epoch, .epochs = 200};
      progress.last_checkpoint_epoch = epoch;
      seen.heard = ProgressReport{progress, seen.now, seen.now, {}};
      seen.job.status.progress = Progress{.epoch = 7, .epochs = 200};
      seen.wrote_status = seen.now - Seconds(written_seconds_ago);
      if (change) change(seen);
    });
  }
};

TEST_F(QuietProgress, IsWrittenOnceInThirtySeconds) {
  const Decision early = hear(8, 20);
  EXPECT_FALSE(early.status);
  EXPECT_LE(early.requeue_at, world.cluster.now + Seconds(10));
  EXPECT_EQ(hear(8, 30).status->progress.epoch, 8);
}

TEST_F(QuietProgress, IsWrittenAtOnceForTheFirstTime) {
  const Decision first = hear(8, 1, [](Observed& seen) { seen.job.status.progress = {}; });
  EXPECT_EQ(first.status->progress.epoch, 8);
}

TEST_F(QuietProgress, IsWrittenWithTheEndAtTheDeadline) {
  const Decision decision = hear(8, 1, [](Observed& seen) {
    seen.job.job->run_policy.active_deadline_seconds = 1;
    seen.job.status.start = seen.now - Seconds(100);
  });
  ASSERT_EQ(condition(decision, kFailed).reason, "DeadlineExceeded");
  EXPECT_EQ(decision.status->progress.epoch, 8) << "nothing comes after this";
  EXPECT_EQ(decision.status->progress.last_checkpoint_epoch, 8);
}

TEST_F(QuietProgress, IsWrittenWhenTheJobIsSuspended) {
  const Decision decision = hear(8, 1, [](Observed& seen) { seen.job.job->run_policy.suspend = true; });
  ASSERT_EQ(condition(decision, kSuspended).reason, "Suspending");
  EXPECT_EQ(decision.status->progress.epoch, 8);
  EXPECT_EQ(decision.status->progress.last_checkpoint_epoch, 8);
}

TEST_F(QuietProgress, ARestartIsWrittenAtOnceWithTheLastCheckpoint) {
  const Decision decision = hear(8, 1, [&](Observed& seen) {
    PodView& lost = pod(seen, "cora-1-0");
    lost.phase = "Failed";
    lost.reason = "Evicted";
    lost.disruption = "EvictionByEvictionAPI";
  });
  ASSERT_TRUE(decision.status);
  ASSERT_EQ(decision.status->restarts.size(), 1U);
  EXPECT_EQ(decision.status->restarts[0].resumed_from, 8) << "and not what was last written";
}

/// A gang that was planned, and whose pods exist.
class QuietStart : public Decide {
 protected:
  void SetUp() override {
    submit();
    until_placed();
  }
  /// What is decided where its plan was written so long ago, and nothing since.
  Decision look(int written_seconds_ago, const char* created_before = nullptr) {
    return decide_on([&](Observed& seen) {
      auto& conditions = seen.job.status.conditions;
      std::erase_if(conditions, [](const Condition& c) { return c.type == kCreated || c.type == kRunning; });
      if (created_before) set_condition(conditions, {kCreated, false, created_before, "words", seen.now, 1});
      seen.wrote_status = seen.now - Seconds(written_seconds_ago);
    });
  }
};

TEST_F(QuietStart, IsToldWithWhatFollowsIfThatIsSoon) {
  const Decision early = look(3);
  EXPECT_FALSE(early.status);
  EXPECT_LE(early.requeue_at, world.cluster.now + Seconds(7)) << "then it is";
  const Decision late = look(10);
  EXPECT_EQ(condition(late, kCreated).reason, "Made");
  EXPECT_EQ(condition(late, kRunning).reason, "Starting");
}

TEST_F(QuietStart, TheEndOfARefusalIsToldAtOnce) {
  EXPECT_EQ(condition(look(3, "Refused"), kCreated).reason, "Made");
}

}  // namespace
}  // namespace atl::ctl
