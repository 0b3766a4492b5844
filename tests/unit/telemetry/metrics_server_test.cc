// The endpoint over real HTTP, with curl(1)-like requests made by hand.
#include "telemetry/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string request(int port, const std::string& what) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string text = what + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(::send(connection, text.data(), text.size(), 0), ssize_t(text.size()));
  std::string answer;
  char piece[4096];
  for (ssize_t got; (got = ::recv(connection, piece, sizeof piece, 0)) > 0;)
    answer.append(piece, std::size_t(got));
  ::close(connection);
  return answer;
}

std::string body(int port, const std::string& path) {
  const std::string answer = request(port, "GET " + path);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

const WaitBoard kNoWaits;

MetricsPlace alone(Rank rank) {
  return {"127.0.0.1", 0, {rank}, ""};
}

/// Ranks of one server, which no other test has.
MetricsPlace together(std::vector<Rank> ranks) {
  static int places = 0;
  return {"127.0.0.1", 0, std::move(ranks), fmt::format("atoll-test-{}-{}", getpid(), places++)};
}

void play(MetricsServer& server, const RunRecord& run) {
  server.on_start(run);
  for (const EpochRecord& epoch : run.epochs) server.on_epoch(epoch);
  server.on_checkpoint({2, 0});
}

TEST(MetricsServer, MetricsTellTheRun) {
  MetricsServer server(alone(1), 1, kNoWaits);
  play(server, sample_run());
  const std::string text = body(server.port(), "/metrics");
  for (const char* line : {
           "\natoll_epoch{rank=\"1\"} 4\n",
           "\natoll_epochs_target{rank=\"1\"} 4\n",
           "\natoll_loss{rank=\"1\"} 0.5\n",
           "\natoll_accuracy{rank=\"1\",metric=\"accuracy\",split=\"validation\"} 0.75\n",
           "\natoll_epoch_seconds_count{rank=\"1\"} 4\n",
           "\natoll_epoch_seconds_sum{rank=\"1\"} 1\n",
           "\natoll_epoch_seconds_bucket{rank=\"1\",le=\"0.5\"} 4\n",
           "\natoll_epoch_seconds_bucket{rank=\"1\",le=\"0.1\"} 0\n",
           "\natoll_phase_seconds_total{rank=\"1\",phase=\"compute\"} 0.8\n",
           "\natoll_comm_bytes_total{rank=\"1\",link=\"inter\",purpose=\"halo\"} 3600\n",
           "\natoll_checkpoint_epoch{rank=\"1\"} 2\n",
           "atoll_build_info{rank=\"1\",atoll=\"0.1.0\",open_mpi=\"4.1.4\"} 1\n",
       })
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, HasSubstr("\natoll_rank_memory_bytes{rank=\"1\"} "));
  EXPECT_THAT(text, testing::Not(HasSubstr("split=\"test\"")));  // never evaluated: no sample rather than a 0
}

TEST(MetricsServer, BatchesTellStepsAndTheCachesHits) {
  MetricsServer server(alone(1), 1, kNoWaits);
  RunRecord run = sample_run();
  for (EpochRecord& epoch : run.epochs) epoch.own.batches = {1000, 30, 10, 1, 0.5};
  play(server, run);
  server.on_step({5, 3, 90, 0.25});
  const std::string text = body(server.port(), "/metrics");
  for (const char* line : {"\natoll_step{rank=\"1\"} 3\n", "\natoll_steps_per_epoch{rank=\"1\"} 90\n",
                           "\natoll_feature_rows_total{rank=\"1\",from=\"own\"} 4000\n",
                           "\natoll_feature_rows_total{rank=\"1\",from=\"cache\"} 120\n",
                           "\natoll_feature_rows_total{rank=\"1\",from=\"owner\"} 40\n",
                           "\natoll_batch_memory_growths_total{rank=\"1\"} 4\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(body(server.port(), "/progress"), HasSubstr("\"step\":3,\"steps\":90,\"loss\":0.25"));
}

/// An epoch that was over had all its steps but one besides.
TEST(MetricsServer, AnEpochsEndLeavesNoStepsDone) {
  MetricsServer server(alone(1), 1, kNoWaits);
  RunRecord run = sample_run();
  server.on_start(run);
  EXPECT_THAT(body(server.port(), "/metrics"), testing::Not(HasSubstr("\natoll_step{")));
  server.on_step({1, 89, 90, 0.25});
  server.on_epoch(run.epochs[0]);
  const std::string text = body(server.port(), "/metrics");
  for (const char* line : {"\natoll_epoch{rank=\"1\"} 1\n", "\natoll_step{rank=\"1\"} 0\n",
                           "\natoll_steps_per_epoch{rank=\"1\"} 90\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(MetricsServer, PromtoolAccepts) {
  const std::string promtool =
      "PATH=\"$PROMETHEUS:$PATH\" promtool";  // unpacked by the Makefile, or installed
  if (std::system((promtool + " --version > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "promtool (package prometheus) is not at hand";
  TemporaryFolder folder;
  const MetricsPlace place = together({0, 1, 2});
  MetricsServer server(place, 0, kNoWaits), other(place, 1, kNoWaits);
  play(server, sample_run());
  play(other, sample_run());
  write_bytes(folder / "metrics", body(server.port(), "/metrics"));
  const std::string command = promtool + " check metrics < " + (folder / "metrics").string() + " > " +
                              (folder / "said").string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_bytes(folder / "said"), "");
}

TEST(MetricsServer, ProgressIsJson) {
  MetricsServer server(alone(0), 0, kNoWaits);
  auto progress = parse_json(body(server.port(), "/progress"));
  EXPECT_EQ(progress["state"], "starting");
  EXPECT_TRUE(progress["loss"].is_null());
  RunRecord run = sample_run();
  play(server, run);
  progress = parse_json(body(server.port(), "/progress"));
  EXPECT_EQ(progress["state"], "training");
  EXPECT_EQ(progress["epoch"], 4);
  EXPECT_EQ(progress["epochs"], 4);
  EXPECT_EQ(progress["loss"], 0.5);
  EXPECT_EQ(progress["validation"], 0.75);
  EXPECT_EQ(progress["epochSeconds"], 0.25);
  EXPECT_EQ(progress["etaSeconds"], 0);
  EXPECT_EQ(progress["lastCheckpointEpoch"], 2);
  EXPECT_EQ(progress["bytes"]["inter"], 2000);
  server.on_result(run);
  progress = parse_json(body(server.port(), "/progress"));
  EXPECT_EQ(progress["state"], "completed");
  EXPECT_EQ(progress["test"], 0.815);
}

TEST(MetricsServer, HealthUnknownPathsAndMethods) {
  MetricsServer server(alone(0), 0, kNoWaits);
  EXPECT_EQ(body(server.port(), "/healthz"), "ok\n");
  EXPECT_THAT(request(server.port(), "GET /secret"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(request(server.port(), "GET /../../etc/passwd"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(request(server.port(), "POST /metrics"), StartsWith("HTTP/1.1 405"));
  const std::string head = request(server.port(), "HEAD /healthz");
  EXPECT_THAT(head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_EQ(head.substr(head.find("\r\n\r\n")), "\r\n\r\n");
}

TEST(MetricsServer, ATakenPortIsSaid) {
  MetricsServer first(alone(0), 0, kNoWaits);
  const std::string message = error_of([&] { MetricsServer({"127.0.0.1", first.port()}, 0, kNoWaits); });
  EXPECT_THAT(message, HasSubstr("127.0.0.1:" + std::to_string(first.port())));
  EXPECT_THAT(message, HasSubstr("choose another port"));
  EXPECT_THAT(error_of([&] {
                MetricsServer({"not-an-address", 1}, 0, kNoWaits);
              }),
              HasSubstr("not-an-address:1"));
}

TEST(MetricsServer, TheLowestRankTellsOfAllOnItsServer) {
  const MetricsPlace place = together({2, 5, 7});
  MetricsServer lowest(place, 2, kNoWaits), other(place, 7, kNoWaits);
  play(lowest, sample_run());
  play(other, sample_run());
  const std::string text = body(lowest.port(), "/metrics");
  for (const char* line :
       {"\natoll_epoch{rank=\"2\"} 4\n", "\natoll_epoch{rank=\"7\"} 4\n", "\natoll_rank_up{rank=\"2\"} 1\n",
        "\natoll_rank_up{rank=\"5\"} 0\n", "\natoll_rank_up{rank=\"7\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, testing::Not(HasSubstr("atoll_epoch{rank=\"5\"}")));
  const auto first = text.find("# HELP atoll_epoch ");
  EXPECT_EQ(text.find("# HELP atoll_epoch ", first + 1), std::string::npos) << "said once";
}

TEST(MetricsServer, ProgressTellsWhomRanksWaitFor) {
  const MetricsPlace place = together({0, 1, 2});
  WaitBoard mine, theirs;
  const MetricsServer lowest(place, 0, mine), other(place, 1, theirs);
  mine.enter({1, 4}, WaitBoard::Clock::now() - std::chrono::seconds(3));
  const auto ranks = parse_json(body(lowest.port(), "/progress"))["ranks"];
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0]["rank"], 0);
  EXPECT_EQ(ranks[0]["waitingFor"], (std::vector<int>{1, 4}));
  EXPECT_GE(ranks[0]["waitedSeconds"], 3);
  EXPECT_EQ(ranks[1]["answers"], true);
  EXPECT_TRUE(ranks[1]["waitingFor"].empty());
  EXPECT_EQ(ranks[2], parse_json(R"({"rank": 2, "answers": false})"));
}

TEST(MetricsServer, TwoJobsOnOneMachineDontMeet) {
  const MetricsPlace one = together({0, 1}), two = together({0, 1});
  MetricsServer first(one, 0, kNoWaits), other(two, 1, kNoWaits);
  EXPECT_THAT(body(first.port(), "/metrics"), HasSubstr("\natoll_rank_up{rank=\"1\"} 0\n"));
}

TEST(MetricsServer, AResumedRunCountsFromWhereItWas) {
  MetricsServer server(alone(0), 0, kNoWaits);
  RunRecord run = sample_run();
  run.resumed_from = 4;
  server.on_start(run);
  EXPECT_THAT(body(server.port(), "/metrics"), HasSubstr("\natoll_epoch{rank=\"0\"} 4\n"));
  EXPECT_EQ(parse_json(body(server.port(), "/progress"))["lastCheckpointEpoch"], 4);
}

}  // namespace
}  // namespace atl
