// A job's status: it reads back as written, and the API server accepts it.
#include "operator/api/status.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "operator_api/status_schema.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Moment at(int seconds) {
  return *parse_moment("2026-03-01T12:00:00Z") + Seconds(seconds);
}

Status full_status() {
  Status status;
  status.observed_generation = 3;
  status.conditions = {{kCreated, true, "ObjectsMade", "all there", at(1), 3},
                       {kRunning, true, "Training", "4 ranks on 2 nodes", at(2), 3}};
  status.made_of = {"0123456789", "9876543210", "atoll/engine@sha256:0123"};
  status.findings = R"({"ranks":4,"flows":[[0,2,100]]})";
  status.pod_size = {2, "4 ranks in 2 pods of 2: node n1 has 2 nvidia.com/gpu"};
  status.pod_size_gone = at(5);
  status.attempt = 2;
  status.failures = 1;
  status.keys = "cora-keys-1";
  status.withdrawals = 2;
  status.servers = {{"n1", {0, 1}, "stage 0"}, {"n2", {2, 3}, "stage 1"}};
  status.predicted = {12.0 * (1 << 20), 1500, "n3 is taken"};
  status.progress = {.epoch = 120,
                     .epochs = 500,
                     .last_checkpoint_epoch = 100,
                     .loss = 0.41,
                     .validation = 0.71,
                     .epoch_seconds = 0.8,
                     .eta = "5m4s",
                     .intra_server_bytes = 7,
                     .inter_server_bytes = 2048,
                     .advanced = at(8)};
  status.add_restart({at(3), {3, "SIGKILL", "j-1-0", "n2"}, "OOMKilled", 100});
  status.result = {0.713, 388};
  status.start = at(0);
  status.completion = at(9);
  return status;
}

TEST(Status, GoesOutAndComesBackUnchanged) {
  EXPECT_EQ(read_status(parse_json(write_status(full_status()))), full_status());
  EXPECT_EQ(read_status(parse_json(write_status({}))), Status());
}

TEST(Status, IsWhatTheDefinitionAllows) {
  EXPECT_TRUE(is_allowed_status(write_status(full_status())));
  EXPECT_TRUE(is_allowed_status(write_status({})));
}

TEST(Status, ReadsLikeThePapersOfTheManifest) {
  const json status = parse_json(write_status(full_status()));
  EXPECT_EQ(status.at("state"), "Running");
  EXPECT_EQ(status.at("placement").at("predicted").at("interServerBytesPerEpoch"), "12Mi");
  EXPECT_EQ(status.at("placement").at("predicted").at("bestPossible"), "1500");
  EXPECT_EQ(status.at("traffic").at("interServerBytesPerEpoch"), "2Ki");
  EXPECT_EQ(status.at("restarts")[0].at("culprit").at("signal"), "SIGKILL");
  EXPECT_EQ(status.at("podSize").at("ranksPerServer"), 2);
  EXPECT_EQ(status.at("podSize").at("goneSince"), "2026-03-01T12:00:05Z");
  EXPECT_EQ(status.at("startTime"), "2026-03-01T12:00:00Z");
}

TEST(Status, SaysNothingOfPodsWhoseSizeIsntTheOperatorsToChoose) {
  EXPECT_FALSE(parse_json(write_status({})).contains("podSize"));
  Status open;
  open.pod_size.reason = "no nodes yet";
  EXPECT_EQ(parse_json(write_status(open)).at("podSize"), json({{"reason", "no nodes yet"}}));
}

TEST(Status, KeepsTheLastTenRestarts) {
  Status status;
  for (int i = 0; i < 13; ++i) status.add_restart({at(i), {i, "", "", ""}, "Exit", {}});
  ASSERT_EQ(status.restarts.size(), 10u);
  EXPECT_EQ(status.restarts.front().culprit.rank, 3);
  EXPECT_TRUE(is_allowed_status(write_status(status)));
}

TEST(Status, LongAndBrokenTextsAreCut) {
  Status status;
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "ä";
  set_condition(status.conditions, {kFailed, true, std::string(5000, 'x'), words, at(0), 1});
  status.add_restart({at(0), {1, std::string(99, 's'), "pod\xff", "node"}, "r", {}});
  const std::string text = write_status(status);
  EXPECT_TRUE(is_allowed_status(text));
  const json read = parse_json(text);
  EXPECT_THAT(read.at("conditions")[0].at("message").get<std::string>(), testing::EndsWith("ä…"));
  EXPECT_EQ(read.at("restarts")[0].at("culprit").at("pod"), "pod");
}

TEST(Status, NonsenseReadsAsAbsent) {
  const Status status = read_status(parse_json(
      R"({"conditions": 7, "attempt": "x", "placement": {"servers": [{"node": 1, "ranks": ["a", 2]}]},
          "startTime": "yesterday", "progress": [], "restarts": [{}], "predicted": 3, "traffic": {"interServerBytesPerEpoch": "no"}})"));
  EXPECT_TRUE(status.conditions.empty());
  EXPECT_EQ(status.attempt, 0);
  EXPECT_THAT(status.servers.at(0).ranks, testing::ElementsAre(2));
  EXPECT_FALSE(status.start);
  EXPECT_FALSE(status.progress.inter_server_bytes);
}

TEST(Condition, TimeChangesOnlyWithTheTruth) {
  std::vector<Condition> all;
  set_condition(all, {kPlaced, false, "NoRoom", "one", at(1), 1});
  set_condition(all, {kPlaced, false, "NoRoom", "two", at(5), 2});
  EXPECT_EQ(all[0].changed, at(1));
  EXPECT_EQ(all[0].message, "two");
  EXPECT_EQ(all[0].generation, 2);
  set_condition(all, {kPlaced, true, "Planned", "", at(9), 2});
  EXPECT_EQ(all[0].changed, at(9));
}

TEST(Condition, NothingChangesOnceTheJobHasEnded) {
  std::vector<Condition> all;
  set_condition(all, {kRunning, false, "Ended", "", at(1), 1});
  set_condition(all, {kSucceeded, true, "Completed", "", at(1), 1});
  const auto ended = all;
  set_condition(all, {kFailed, true, "Late", "", at(2), 1});
  set_condition(all, {kRunning, true, "Late", "", at(2), 1});
  set_condition(all, {kSucceeded, false, "Late", "", at(2), 1});
  EXPECT_EQ(all, ended);
  EXPECT_EQ(state_of(all), "Succeeded");
}

TEST(Condition, TheStateIsWhatSaysMost) {
  std::vector<Condition> all{{kCreated, true}, {kPlaced, true}, {kRunning, true}};
  EXPECT_EQ(state_of(all), "Running");
  all.push_back({kRestarting, true});
  EXPECT_EQ(state_of(all), "Restarting");
  all.push_back({kSuspended, true});
  EXPECT_EQ(state_of(all), "Suspended");
}

TEST(Status, HasNoColumnEmpty) {
  const auto columns = [](const Status& status) {
    const json written = parse_json(write_status(status));
    return json{written.at("state"), written.at("reason"), written.at("nodes")};
  };
  Status status;
  EXPECT_EQ(columns(status), (json{"New", "Begun", 0}));
  status.servers = {{"n1", {0}}, {"n1", {1}}, {"n2", {2}}};
  set_condition(status.conditions, {kCreated, false, "Preparing", "", at(0), 1});
  EXPECT_EQ(columns(status), (json{"Created", "Preparing", 0}));
  set_condition(status.conditions, {kPlaced, false, "NoRoom", "", at(0), 1});
  EXPECT_EQ(columns(status), (json{"Waiting", "NoRoom", 0})) << "places that it had before are none";
  set_condition(status.conditions, {kCreated, false, "NameTaken", "", at(0), 1});
  EXPECT_EQ(columns(status), (json{"Refused", "NameTaken", 0}));
  set_condition(status.conditions, {kPlaced, true, "Planned", "", at(0), 1});
  EXPECT_EQ(columns(status), (json{"Placed", "Planned", 2}));
  set_condition(status.conditions, {kRestarting, true, "OOMKilled", "", at(0), 1});
  EXPECT_EQ(columns(status), (json{"Restarting", "OOMKilled", 2}));
}

TEST(Condition, WhileNoneHoldsTheStateIsWhatIsWaitedFor) {
  EXPECT_EQ(state_of({}), "New");
  EXPECT_EQ(state_of({{kCreated, false, "Refused"}, {kPlaced, false, "Preparing"}}), "Refused");
  EXPECT_EQ(state_of({{kPlaced, false, "Preparing"}}), "Preparing");
  EXPECT_EQ(state_of({{kCreated, false, "Preparing"}, {kPlaced, false, "Preparing"}}), "Preparing");
  EXPECT_EQ(state_of({{kCreated, true, "Made"}, {kPlaced, false, "NoRoom"}}), "Waiting");
  EXPECT_EQ(state_of({{kCreated, true, "Made"}}), "Created");
}

TEST(Moment, IsRfc3339) {
  EXPECT_EQ(text_of(at(3661)), "2026-03-01T13:01:01Z");
  EXPECT_EQ(parse_moment("2026-03-01T12:00:01.999Z"), at(1));
  for (const char* bad :
       {"", "2026-03-01", "2026-02-30T12:00:00Z", "2026-03-01 12:00:00Z", "20x6-03-01T12:00:00Z"})
    EXPECT_FALSE(parse_moment(bad)) << bad;
}

TEST(Eta, HasTwoUnits) {
  EXPECT_EQ(eta_text(304), "5m4s");
  EXPECT_EQ(eta_text(3.4), "3s");
  EXPECT_EQ(eta_text(7500), "2h5m");
  EXPECT_EQ(eta_text(276000), "3d4h");
}

}  // namespace
}  // namespace atl::ctl
