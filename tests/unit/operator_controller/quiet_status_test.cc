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

}  // namespace
}  // namespace atl::ctl
