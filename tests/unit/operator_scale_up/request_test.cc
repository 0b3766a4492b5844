// What a gang without places asks an autoscaler for, and when. Lives of such jobs are in
// operator_controller/scale_up_test.cc.
#include <gmock/gmock.h>

#include "operator/objects/names.h"
#include "operator/scale_up/scale_up.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

constexpr Moment kBegin{Seconds(1'000'000)};

struct Budget final : NodeBudget {
  std::string why;
  int questions = 0;
  std::string why_no_request(std::size_t) override {
    ++questions;
    return why;
  }
};

/// Two servers and a launcher, none of which has a place.
struct NodeRequests : testing::Test {
  GnnJob job = sample_job();
  Settings settings;
  Gang gang = gang_of(*job.job, {});
  GangPlan plan;
  Condition condition;
  bool was_asked = false;  // there is such a condition
  std::vector<PodView> placeholders;
  Budget budget;

  NodeRequests() {
    settings.scale_up = ScaleUp::kPlaceholders;
    settings.scale_up_seconds = 900;
    plan.would_nodes_help = true;
  }
  void was(bool is_asked, const char* reason, Moment since) {
    was_asked = true;
    condition = {kNodesRequested, is_asked, reason, "", since, 1};
  }
  NodeRequest at(Moment now) {
    WaitingGang waiting{job, settings, gang, plan, {0, 1}};
    waiting.is_launcher_waiting = true;
    for (const PodView& pod : placeholders) waiting.placeholders.push_back(&pod);
    waiting.request = was_asked ? &condition : nullptr;
    waiting.since = kBegin;
    waiting.now = now;
    return request_for(waiting, budget);
  }
};

TEST_F(NodeRequests, AskForAllThatWaitsAsLongAsThereIsPatience) {
  const NodeRequest request = at(kBegin + Seconds(5));
  EXPECT_TRUE(request.is_asked);
  EXPECT_EQ(request.reason, "Asked");
  EXPECT_THAT(request.words, HasSubstr("for nodes for 2 servers"));
  EXPECT_EQ(request.look_again, kBegin + Seconds(905));
  EXPECT_THAT(request.shares,
              UnorderedElementsAre(Key("cora-room-0"), Key("cora-room-1"), Key("cora-room-launcher")));
}

TEST_F(NodeRequests, OfBuffersNameTheNumberOfPodsOnce) {
  settings.scale_up = ScaleUp::kCapacityBuffers;
  const NodeRequest request = at(kBegin);
  ASSERT_THAT(request.shares, UnorderedElementsAre(Key("cora-room-2-worker"), Key("cora-room-launcher")));
  EXPECT_EQ(request.shares.at("cora-room-2-worker").pods, 2);
}

TEST_F(NodeRequests, InVainRestAsLongAsTheGangHadWaited) {
  was(true, "Asked", kBegin + Seconds(100));
  const NodeRequest failed = at(kBegin + Seconds(1000));
  EXPECT_FALSE(failed.is_asked);
  EXPECT_EQ(failed.reason, "NoNodes");
  EXPECT_THAT(failed.shares, IsEmpty());
  EXPECT_EQ(failed.look_again, kBegin + Seconds(2000));
  was(false, "NoNodes", kBegin + Seconds(1000));
  const NodeRequest rests = at(kBegin + Seconds(1999));
  EXPECT_EQ(rests.reason, "") << "the condition stays as it is";
  EXPECT_THAT(rests.words, HasSubstr("in vain"));
  EXPECT_EQ(budget.questions, 0) << "whoever rests counts for nobody";
  const NodeRequest again = at(kBegin + Seconds(2000));
  EXPECT_TRUE(again.is_asked);
  EXPECT_EQ(again.reason, "AskedAgain");
}

TEST_F(NodeRequests, HavePatienceAnewWithEachNodeThatComes) {
  was(true, "Asked", kBegin);
  placeholders.resize(1);
  placeholders[0].node = "n5";
  placeholders[0].scheduled = kBegin + Seconds(800);
  EXPECT_EQ(at(kBegin + Seconds(1699)).look_again, kBegin + Seconds(1700));
  const NodeRequest failed = at(kBegin + Seconds(1700));
  EXPECT_EQ(failed.reason, "TooFewNodes");
  EXPECT_EQ(failed.look_again, kBegin + Seconds(2000)) << "soon, as one is still there";
  placeholders[0].scheduled = kBegin + Seconds(20);
  EXPECT_EQ(at(kBegin + Seconds(900)).reason, "NoNodes") << "that room was there before";
}

TEST_F(NodeRequests, WaitForOthersAndEndWhereTheyAreOfNoUse) {
  budget.why = "they are asked for other jobs' servers first";
  EXPECT_THAT(at(kBegin).words, HasSubstr("other jobs' servers first"));
  plan.would_fit_unreserved = true;
  EXPECT_THAT(at(kBegin).words, HasSubstr("reserved for another gang"));
  EXPECT_EQ(budget.questions, 1);
  was(true, "Asked", kBegin);
  plan.would_nodes_help = false;
  const NodeRequest ended = at(kBegin + Seconds(10));
  EXPECT_FALSE(ended.is_asked);
  EXPECT_EQ(ended.reason, "NotNeeded");
  EXPECT_EQ(ended.words, "");
}

}  // namespace
}  // namespace atl::ctl
