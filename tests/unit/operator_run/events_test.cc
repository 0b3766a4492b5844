// Events for people: their words, and how often they are said.
#include "operator/run/events.h"

#include <gmock/gmock.h>

#include "operator_api/sample_job.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

struct EventsTest : testing::Test {
  FakeCluster cluster;
  FakeApi api{cluster};
  kube::Client client{api, {}, {.times = 0}};
  Events events{client, "one"};
  const GnnJob job = sample_job();

  void add(const std::string& message, Moment now = kBegin) {
    events.add(job, {true, "NoRoom", message}, now);
  }
};

TEST_F(EventsTest, CountsWhatIsSaidAgain) {
  for (int second = 0; second < 3; ++second) add("no room", kBegin + Seconds(second));
  events.send();
  ASSERT_EQ(api.events.size(), 1U);
  const json& event = api.events.begin()->second;
  EXPECT_EQ(event.at("count"), 3);
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("firstTimestamp"), text_of(kBegin));
  EXPECT_EQ(event.at("lastTimestamp"), text_of(kBegin + Seconds(2)));
}

TEST_F(EventsTest, IsSilentWhereAJobHasTooMany) {
  for (int i = 0; i < 100; ++i) add("reason " + std::to_string(i));
  events.send();
  EXPECT_EQ(api.events.size(), std::size_t(Events::kBurst));
  add("later", kBegin + Events::kOneIn);
  events.send();
  EXPECT_EQ(api.events.size(), std::size_t(Events::kBurst + 1));
}

TEST_F(EventsTest, ThoseOfOneSecondAreShownInTheirOrder) {
  for (const char* message : {"first", "second", "third", "fourth"}) add(message);
  events.send();
  std::vector<std::string> shown;  // the API server lists by name, kubectl then sorts by the second
  for (const auto& [path, event] : api.events) shown.push_back(event.at("message"));
  EXPECT_THAT(shown, testing::ElementsAre("first", "second", "third", "fourth"));
}

TEST_F(EventsTest, BoundsMessages) {
  add(std::string(5000, 'x'));
  events.send();
  EXPECT_LE(api.events.begin()->second.at("message").get<std::string>().size(), 1024U);
}

}  // namespace
}  // namespace atl::ctl
