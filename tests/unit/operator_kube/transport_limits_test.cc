// The contract of every Transport with a server that sends too much: hold it back, or give it up, in bounded
// memory.
#include <latch>

#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using TransportLimits = TransportTest;
INSTANTIATE_TEST_SUITE_P(All, TransportLimits, testing::ValuesIn(kTransports), name_of);

constexpr std::size_t kList = 400'000'000;
constexpr std::size_t kBlock = 1'000'000;

void send_list(Peering& p, bool is_chunked) {
  p.request();
  p.send(is_chunked ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kList) + "\r\n\r\n");
  const std::string block(kBlock, 'x');
  for (std::size_t sent = 0; sent < kList; sent += kBlock)
    if (!(is_chunked ? p.send_chunk(block) : p.send(block))) return;
  if (is_chunked) p.send("0\r\n\r\n");
}

TEST_P(TransportLimits, AListOf400MegabytesTakesAFewMegabytesOfMemory) {
  for (const bool is_chunked : {false, true}) {
    ScriptedServer server([&](Peering& p) { send_list(p, is_chunked); });
    const double before = megabytes();
    const auto stream = to(server)->open(get("/list"));
    std::this_thread::sleep_for(Milliseconds(300));  // time to run ahead of a reader that sleeps
    double most = megabytes();
    std::vector<char> part(64 << 10);
    std::size_t read = 0, rounds = 0;
    while (const std::size_t size = stream->read(part.data(), part.size(), Milliseconds(5000))) {
      read += size;
      if (++rounds % 100 == 0) most = std::max(most, megabytes());
    }
    EXPECT_EQ(read, kList);
    EXPECT_LT(most - before, 12) << (is_chunked ? "chunks" : "one piece");
  }
}

TEST_P(TransportLimits, ABodyPastTheLimitIsGivenUp) {
  ScriptedServer server([](Peering& p) { send_list(p, true); });
  const double before = megabytes();
  Request request = get("/metrics");
  request.limits.body = 64 << 10;
  EXPECT_EQ(error_of([&] { to(server)->call(request); }), Kind::kTooLarge);
  EXPECT_LT(megabytes() - before, 12);
}

TEST_P(TransportLimits, ABodyAtTheLimitIsWhole) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.answer(std::string(64 << 10, 'x'));
  });
  Request request = get("/metrics");
  request.limits.body = 64 << 10;
  EXPECT_EQ(to(server)->call(request).body.size(), request.limits.body);
}

TEST_P(TransportLimits, HeadersPastTheLimitAreGivenUp) {
  for (const std::size_t size : {60'000, 70'000, 1'000'000}) {
    ScriptedServer server([&](Peering& p) {
      p.request();
      p.answer("ok", "200 OK", "X-Long: " + std::string(size, 'x') + "\r\n");
    });
    const auto error = error_of([&] { to(server)->call(get("/")); });
    EXPECT_EQ(error, size < 64 << 10 ? std::nullopt : std::optional(Kind::kTooLarge)) << size;
  }
}

TEST_P(TransportLimits, HeadersWithoutEndAreGivenUp) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\n");
    const std::string line = "X: " + std::string(995, 'x') + "\r\n";
    while (p.send(line)) std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  const double before = megabytes();
  EXPECT_EQ(error_of([&] { to(server)->call(get("/")); }), Kind::kTooLarge);
  EXPECT_LT(megabytes() - before, 20);
}

TEST_P(TransportLimits, AChunkWithoutEndIsGivenUp) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffff00\r\n");
    const std::string block(100'000, 'x');
    while (p.send(block)) std::this_thread::sleep_for(std::chrono::microseconds(500));
  });
  const double before = megabytes();
  Request request = get("/watch");
  request.limits.piece = 1 << 20;
  const auto stream = to(server)->open(request);
  EXPECT_EQ(error_of([&] { rest_of(*stream); }), Kind::kTooLarge);
  EXPECT_LT(megabytes() - before, 64);
}

}  // namespace
}  // namespace atl::kube
