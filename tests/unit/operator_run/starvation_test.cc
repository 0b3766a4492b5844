// A gang that needs the whole cluster, and small ones that keep coming.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Small jobs of a node each, of which there are always some too many.
class Stream {
 public:
  explicit Stream(Seconds reserve_after) {
    stage.reserve_after = reserve_after;
    stage.start();
  }
  Stage stage;

  void submit(const std::string& name, int ranks, Changes changes = {}) {
    stage.submit(name, changes);
    json& job = stage.job(name);
    job["spec"]["placement"]["ranks"] = ranks;
    job["metadata"]["creationTimestamp"] = text_of(stage.cluster.now);
    if (name.starts_with("small")) small_.insert(name);
  }
  /// In a cluster that is full: jobs, each a second older than the next, whose data sets are prepared, as if
  /// there had been room for that.
  void submit_prepared(const std::vector<std::pair<std::string, int>>& jobs) {
    stage.api.refuse = [jobs](const std::string& method,
                              const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
      for (const auto& [name, ranks] : jobs)
        if (method == "POST" && target.plural == "pods" && target.name.starts_with(name + "-") &&
            target.name != prepare_name(name))
          return FakeApi::Refusal{403, "Forbidden", "not yet"};
      return {};
    };
    for (auto& [node, state] : stage.cluster.nodes) state.cores += 4000;
    for (const auto& [name, ranks] : jobs) {
      submit(name, ranks);
      stage.run(1);
    }
    stage.run(8);
    for (auto& [node, state] : stage.cluster.nodes) state.cores -= 4000;
    stage.api.refuse = {};
    stage.run(10);
    for (const auto& [name, ranks] : jobs) EXPECT_EQ(stage.reason(kPlaced, name), "NoRoom");
  }
  /// Four jobs hold the cluster; `whole` waits for all of it, `little` for a node, longer than patience
  /// lasts.
  void keep_waiting(const std::string& whole, const std::string& little) {
    stage.cluster.training.seconds = 1000;
    for (const char* name : {"a", "b", "c", "d"}) submit(name, 2);
    stage.run(10);
    submit_prepared({{whole, 8}, {little, 2}});
    stage.run(130);
  }
  void complete(const std::string& job) {
    stage.cluster.end_pod(job + "-launcher-1", 0, "Completed",
                          R"({"status":0,"result":{"outcome":"completed"}})");
  }
  /// Keeps so many small ones waiting.
  void flow(
      int seconds, const std::function<bool()>& until = [] { return false; }) {
    for (int s = 0; s < seconds && !until(); ++s) {
      while (small_.size() < 6) submit("small-" + std::to_string(++made_), 2);
      stage.run(1);
      finished_ += int(std::erase_if(small_, [&](const std::string& name) { return is_taken_away(name); }));
    }
  }
  int launches(const std::string& name) { return stage.cluster.runs[name].launches; }
  int finished() const { return finished_; }
  std::string placed(const std::string& name) {
    const Status status = stage.status(name);
    const Condition* found = find_condition(status.conditions, kPlaced);
    return found ? found->message : "";
  }

 private:
  /// A job that has ended is deleted with all that it made.
  bool is_taken_away(const std::string& job) {
    if (!stage.has_ended(job)) return false;
    std::erase_if(stage.cluster.pods,
                  [&](const auto& pod) { return label_of(pod.second, kJobLabel) == job; });
    std::erase_if(stage.cluster.objects, [&](const auto& object) {
      return object.first.second == job || label_of(object.second, kJobLabel) == job;
    });
    return true;
  }

  std::set<std::string> small_;
  int made_ = 0, finished_ = 0;
};

TEST(Starvation, ALargeGangWaitsForEverWhereNoRoomIsKept) {
  Stream stream(Seconds(100'000));
  stream.flow(20);
  stream.submit("large", 8);
  stream.flow(150);
  EXPECT_EQ(stream.launches("large"), 0) << "else these tests show nothing";
  EXPECT_GT(stream.finished(), 10);
}

TEST(Starvation, RoomIsKeptForOneThatHasWaitedTooLong) {
  Stream stream(Seconds(60));
  stream.flow(20);
  stream.submit("large", 8);
  stream.flow(50);
  EXPECT_EQ(stream.launches("large"), 0) << "small ones pass for a while";
  stream.flow(100, [&] { return stream.launches("large") == 1; });
  EXPECT_EQ(stream.launches("large"), 1);
  const int before = stream.finished();
  stream.flow(100);
  EXPECT_TRUE(stream.stage.has_ended("large"));
  EXPECT_GT(stream.finished(), before) << "and then theirs again";
}

TEST(Starvation, PreparingIsNoWaiting) {
  Stream stream(Seconds(60));
  stream.stage.cluster.training.seconds = 1000;
  stream.submit("holder", 2);
  stream.stage.run(30, [&] { return stream.launches("holder") == 1; });
  stream.stage.cluster.does_prepare_hang = true;
  stream.submit("large", 8);
  stream.stage.run(100);
  ASSERT_EQ(stream.stage.reason(kPlaced, "large"), kPreparing);
  stream.stage.cluster.does_prepare_hang = false;
  stream.stage.run(30, [&] { return stream.stage.reason(kPlaced, "large") == kNoRoom; });
  stream.submit("late", 2);
  stream.stage.run(40, [&] { return stream.launches("late") == 1; });
  EXPECT_EQ(stream.launches("late"), 1) << "nothing is kept yet for one that could be placed only now";
  stream.stage.run(80);
  stream.submit("later", 2);
  stream.stage.run(40);
  EXPECT_EQ(stream.launches("later"), 0) << "but once that has waited";
}

TEST(Starvation, BothAreToldWhy) {
  Stream stream(Seconds(60));
  stream.keep_waiting("large", "late");
  EXPECT_THAT(stream.placed("large"), HasSubstr("n1, n2, n3, n4 are kept for it"));
  EXPECT_THAT(stream.placed("late"), HasSubstr("room is reserved for team/large, which comes first"));
}

TEST(Starvation, NothingIsKeptForOneThatCanNeverStart) {
  Stream stream(Seconds(60));
  stream.submit("large", 12);
  stream.flow(150);
  EXPECT_THAT(stream.placed("large"), HasSubstr("the job can't start without more nodes"));
  EXPECT_THAT(stream.placed("large"), Not(HasSubstr("kept")));
  EXPECT_GT(stream.finished(), 10) << "the cluster is not idle for it";
}

TEST(Starvation, NothingIsKeptForOneThatIsSuspendedOrGone) {
  for (const bool is_deleted : {false, true}) {
    Stream stream(Seconds(60));
    stream.keep_waiting("large", "late");
    stream.complete("a");
    stream.stage.run(10);
    EXPECT_EQ(stream.launches("late"), 0) << "the room is kept";
    if (is_deleted)
      stream.stage.cluster.objects.erase({Kind::kJob, "large"});
    else
      stream.stage.job("large")["spec"]["runPolicy"]["suspend"] = true;
    stream.stage.run(20);
    EXPECT_EQ(stream.launches("late"), 1) << "at once, not when it happens to be looked at again";
  }
}

TEST(Starvation, OneMoreUrgentIsNotHeldBack) {
  Stream stream(Seconds(60));
  stream.keep_waiting("large", "urgent");
  for (auto& [name, pod] : stream.stage.cluster.pods)
    if (label_of(pod, kJobLabel) == "urgent") pod["spec"]["priority"] = 1000;
  stream.complete("a");
  stream.stage.run(20);
  EXPECT_EQ(stream.launches("urgent"), 1);
}

TEST(Starvation, AReplacementIsNotHeldBack) {
  Stream stream(Seconds(60));
  stream.stage.cluster.training.seconds = 300;
  stream.submit("first", 4);
  stream.stage.run(20);
  stream.submit("large", 8);
  stream.stage.run(130);
  ASSERT_THAT(stream.placed("large"), HasSubstr("kept for it"));
  stream.stage.cluster.end_pod("first-1-0", 1, "Error", "");
  stream.stage.run(30, [&] { return stream.launches("first") == 2; });
  EXPECT_EQ(stream.launches("first"), 2) << "else each would wait for the other";
}

TEST(Starvation, TwoLargeOnesRunOneAfterTheOtherAtRandom) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Stream stream(Seconds(60));
    stream.stage.cluster.training.seconds = 10 + int(random() % 30);
    stream.flow(10 + int(random() % 20));
    stream.submit("large", 8);
    stream.flow(int(random() % 40));
    stream.submit("second", 6 + 2 * int(random() % 2));
    stream.flow(500, [&] { return stream.stage.has_ended("large") && stream.stage.has_ended("second"); });
    EXPECT_EQ(stream.stage.state("large"), "Succeeded");
    EXPECT_EQ(stream.stage.state("second"), "Succeeded");
  }
}

}  // namespace
}  // namespace atl::ctl
