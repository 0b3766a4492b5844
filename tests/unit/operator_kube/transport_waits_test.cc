// The contract of every Transport while it waits: deadlines, quiet streams, and what ends a wait.
#include <latch>

#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using TransportWaits = TransportTest;
INSTANTIATE_TEST_SUITE_P(All, TransportWaits, testing::ValuesIn(kTransports), name_of);

TEST_P(TransportWaits, AServerThatNeverAnswersMeetsTheDeadline) {
  std::atomic<bool> was_left = false;
  ScriptedServer server([&](Peering& p) {
    p.request();
    was_left = p.wait_for_close();
  });
  const double seconds = seconds_of(
      [&] { EXPECT_EQ(error_of([&] { to(server)->call(get("/", Milliseconds(300))); }), Kind::kTimeout); });
  EXPECT_GE(seconds, 0.29);
  EXPECT_LT(seconds, 1.5);
  for (int i = 0; i < 200 && !was_left; ++i) std::this_thread::sleep_for(Milliseconds(10));
  EXPECT_TRUE(was_left) << "the connection must be given up as well";
}

TEST_P(TransportWaits, DrippingMeetsTheDeadline) {
  for (const char* start : {"", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"}) {
    ScriptedServer server([&](Peering& p) {
      p.request();
      p.send(start);
      while (p.send("H")) std::this_thread::sleep_for(Milliseconds(20));
    });
    const double seconds = seconds_of(
        [&] { EXPECT_EQ(error_of([&] { to(server)->call(get("/", Milliseconds(300))); }), Kind::kTimeout); });
    EXPECT_LT(seconds, 1.5);
  }
}

TEST_P(TransportWaits, AQuietStreamTimesOutAndCanBeReadOn) {
  std::latch quiet_was_noticed(1);
  ScriptedServer server([&](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    quiet_was_noticed.wait();
    p.send_chunk("late");
    p.send("0\r\n\r\n");
  });
  const auto stream = to(server)->open(get("/"));
  EXPECT_EQ(error_of([&] { rest_of(*stream, Milliseconds(100)); }), Kind::kTimeout);
  quiet_was_noticed.count_down();
  EXPECT_EQ(rest_of(*stream), "late");
}

// Takes 31 s: libraries have idle clocks of 30 s, and only the real time shows that none is left.
TEST_P(TransportWaits, LongAStreamIdlePastThirtySecondsLives) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::seconds(31));
    p.send_chunk("alive");
    p.send("0\r\n\r\n");
  });
  const auto stream = to(server)->open(get("/"));
  EXPECT_EQ(rest_of(*stream, Milliseconds(40'000)), "alive");
}

TEST_P(TransportWaits, CancelUnblocksARead) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    p.wait_for_close();
  });
  const auto stream = to(server)->open(get("/"));
  std::chrono::steady_clock::time_point cancelled;
  std::thread other([&] {
    std::this_thread::sleep_for(Milliseconds(100));
    cancelled = std::chrono::steady_clock::now();
    stream->cancel();
  });
  EXPECT_EQ(error_of([&] { rest_of(*stream, Milliseconds(20'000)); }), Kind::kCancelled);
  const auto unblocked = std::chrono::steady_clock::now();
  other.join();
  EXPECT_LT(unblocked - cancelled, Milliseconds(100));
  EXPECT_EQ(error_of([&] { rest_of(*stream); }), Kind::kCancelled);
}

TEST_P(TransportWaits, AStopEndsAnyWait) {
  std::latch arrived(1);
  ScriptedServer server([&](Peering& p) {
    p.request();
    arrived.count_down();
    p.wait_for_close();
  });
  std::stop_source stop;
  Request request = get("/", Milliseconds(20'000));
  request.stop = stop.get_token();
  std::thread other([&] {
    arrived.wait();
    stop.request_stop();
  });
  const double seconds =
      seconds_of([&] { EXPECT_EQ(error_of([&] { to(server)->call(request); }), Kind::kCancelled); });
  other.join();
  EXPECT_LT(seconds, 2);
  EXPECT_EQ(error_of([&] { to(server)->call(request); }), Kind::kCancelled) << "stopped before it began";
}

TEST_P(TransportWaits, AStreamOutlivesItsTransport) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.answer(std::string(100'000, 'x'));
  });
  auto transport = to(server);
  const auto stream = transport->open(get("/"));
  transport.reset();
  EXPECT_EQ(rest_of(*stream).size(), 100'000u);
}

}  // namespace
}  // namespace atl::kube
