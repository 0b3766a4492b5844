// Prometheus' figures of gangs that wait for room.
#include "operator/run/metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string_view>

#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

int count_of(std::string_view text, std::string_view words) {
  int count = 0;
  for (auto at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST(Metrics, TellHowLongEachGangWaitsUntilItWaitsNoMore) {
  Metrics metrics;
  metrics.set_waiting({{{"a", "one"}, 30}, {{"a", "two"}, 1900}, {{"b", "one"}, 7}});
  EXPECT_THAT(metrics.text(),
              HasSubstr("atoll_gang_waiting_seconds{gnnjob=\"two\",job_namespace=\"a\"} 1900\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("atoll_gang_waiting_seconds{gnnjob=\"one\",job_namespace=\"b\"} 7\n"));
  metrics.set_waiting({{{"b", "one"}, 12}});
  EXPECT_THAT(metrics.text(),
              HasSubstr("atoll_gang_waiting_seconds{gnnjob=\"one\",job_namespace=\"b\"} 12\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("job_namespace=\"a\"")));
}

/// Placed hasn't held since the job's beginning, but its data set was prepared for two hours.
TEST(Metrics, CountNoPreparingAsAWaitForRoom) {
  const Moment begin = *parse_moment("2026-03-01T12:00:00Z"), made = begin + Seconds(7200);
  Status status;
  status.conditions = {{kCreated, false, kPreparing, "", begin, 1}, {kPlaced, false, kNoRoom, "", begin, 1}};
  EXPECT_EQ(waits_for_room_since(status), begin) << "as far as is known";
  status.conditions[0] = {kCreated, true, "Made", "", made, 1};
  EXPECT_EQ(waits_for_room_since(status), made);
  status.conditions[1].changed = made + Seconds(60);
  EXPECT_EQ(waits_for_room_since(status), made + Seconds(60)) << "since it lost its places";
  status.conditions.push_back({kSuspended, false, "Resumed", "", made + Seconds(90), 1});
  EXPECT_EQ(waits_for_room_since(status), made + Seconds(90)) << "since it was resumed";
}

/// Anybody may make thousands of jobs that never fit.
TEST(Metrics, TellOfAsManyGangsAsAreBoundedThoseThatWaitLongest) {
  Metrics metrics;
  std::map<std::pair<std::string, std::string>, double> waiting;
  for (int job = 0; job < 1000; ++job) waiting[{"team", fmt::format("j{}", job)}] = job;
  metrics.set_waiting(waiting);
  const std::string text = metrics.text();
  EXPECT_EQ(count_of(text, "atoll_gang_waiting_seconds{"), int(Metrics::kMostWaiting));
  EXPECT_THAT(text, HasSubstr("gnnjob=\"j999\""));
  EXPECT_THAT(text, Not(HasSubstr("gnnjob=\"j500\"")));
}

}  // namespace
}  // namespace atl::ctl
