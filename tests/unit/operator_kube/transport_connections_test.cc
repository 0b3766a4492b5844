// The contract of every Transport on connections: reuse them, and don't send a request twice.
#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using TransportConnections = TransportTest;
INSTANTIATE_TEST_SUITE_P(All, TransportConnections, testing::ValuesIn(kTransports), name_of);

void serve_all(Peering& p) {
  while (!p.request().empty()) p.answer("ok");
}

TEST_P(TransportConnections, ConnectionsAreUsedAgain) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    ScriptedServer server(serve_all);
    const auto transport = to(server.address(host));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(transport->call(get("/")).body, "ok");
    EXPECT_LE(server.connections(), 4) << host;
  }
}

TEST_P(TransportConnections, AKeptConnectionThatTheServerClosedIsNoError) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.answer("ok");
  });
  const auto transport = to(server);
  for (const char* method : {"GET", "POST", "PATCH", "DELETE", "GET"}) {
    Request request = get("/");
    request.method = method;
    EXPECT_EQ(transport->call(request).body, "ok") << method;
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

TEST_P(TransportConnections, ARequestThatMayHaveBeenActedOnIsNotSentAgain) {
  std::atomic<int> posts = 0;
  ScriptedServer server([&](Peering& p) {
    p.request();
    p.answer("ok");
    posts += p.request().starts_with("POST");  // and closes without an answer
  });
  const auto transport = to(server);
  transport->call(get("/"));
  std::this_thread::sleep_for(Milliseconds(20));
  Request post = get("/");
  post.method = "POST";
  post.body = "{}";
  EXPECT_EQ(error_of([&] { transport->call(post); }), Kind::kBroken);
  EXPECT_EQ(posts, 1);
}

TEST_P(TransportConnections, SixtyOpenStreamsHoldUpNoCall) {
  ScriptedServer server([](Peering& p) {
    const std::string request = p.request();
    if (!request.starts_with("GET /watch")) return (void)p.answer("ok");
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + std::string(200'000, 'x'));
    p.wait_for_close();
  });
  const auto transport = to(server);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 60; ++i) streams.push_back(transport->open(get("/watch")));
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(transport->call(get("/")).body, "ok"); }), 1);
  streams.clear();
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(transport->call(get("/")).body, "ok"); }), 1)
      << "all given up at once";
}

}  // namespace
}  // namespace atl::kube
