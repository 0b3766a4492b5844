// A watch through the whole client: events however they arrive, and each way in which it ends.
#include "operator/kube/client.h"

#include <latch>

#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using testing::HasSubstr;
using Kind = WatchEvent::Kind;

constexpr char kStart[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr Milliseconds kPatience{5000};

/// A watch of a server with this script.
struct Watched {
  explicit Watched(ScriptedServer::Script script)
      : server(std::move(script)),
        transport(cpprest_transport(server.address(), always({}))),
        client(*transport),
        watch(client.watch("/api/v1/pods", {.only = {"a=b", ""}, .version = "42"})) {}

  ScriptedServer server;
  const std::unique_ptr<Transport> transport;
  Client client;
  const std::unique_ptr<Watch> watch;
};

TEST(WatchTest, AsksForBookmarksFromItsVersion) {
  std::string seen;
  Watched watched([&](Peering& p) {
    seen = p.request();
    p.send(kStart);
    p.send("0\r\n\r\n");
  });
  EXPECT_FALSE(watched.watch->next(kPatience)) << "an orderly end";
  EXPECT_FALSE(watched.watch->next(kPatience));
  EXPECT_THAT(seen,
              testing::StartsWith("GET /api/v1/pods?labelSelector=a%3Db&watch=true&allowWatchBookmarks=true"
                                  "&resourceVersion=42&timeoutSeconds=300 HTTP"));
}

TEST(WatchTest, EventsDontDependOnHowTheyArrive) {
  const std::string text =
      "{\"type\":\"ADDED\",\"object\":{\"n\":\"日本\"}}\n{\"type\":\"MODIFIED\",\"object\":{\"n\":2}}\n"
      "{\"object\":{\"n\":3},\"type\":\"DELETED\"}\n{\"type\":\"BOOKMARK\",\"object\":{\"n\":4}}\n";
  for (const std::size_t size : {1, 2, 7, 50, 1000}) {
    Watched watched([&](Peering& p) {
      p.request();
      p.send(kStart);
      for (std::size_t at = 0; at < text.size(); at += size) p.send_chunk(text.substr(at, size));
      p.send("0\r\n\r\n");
    });
    const std::pair<Kind, const char*> expected[] = {{Kind::kAdded, "{\"n\":\"日本\"}"},
                                                     {Kind::kModified, "{\"n\":2}"},
                                                     {Kind::kDeleted, "{\"n\":3}"},
                                                     {Kind::kBookmark, "{\"n\":4}"}};
    for (const auto& [kind, object] : expected) {
      const auto event = watched.watch->next(kPatience);
      ASSERT_TRUE(event) << size;
      EXPECT_EQ(event->kind, kind);
      EXPECT_EQ(event->object, object);
    }
    EXPECT_FALSE(watched.watch->next(kPatience));
  }
}

TEST(WatchTest, AForgottenVersionIsSaidByStatusOrByEvent) {
  const std::string status = R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})";
  for (const bool is_event : {false, true}) {
    Watched watched([&](Peering& p) {
      p.request();
      if (!is_event) return (void)p.answer(status, "410 Gone");
      p.send(kStart);
      p.send_chunk(R"({"type":"ERROR","object":)" + status + "}\n");
      p.wait_for_close();
    });
    const auto event = watched.watch->next(kPatience);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, Kind::kExpired);
    EXPECT_EQ(event->error.text(), "410 Expired: too old");
    EXPECT_FALSE(watched.watch->next(kPatience)) << "nothing comes after it";
  }
}

TEST(WatchTest, OtherRefusalsKeepTheirReason) {
  Watched watched([](Peering& p) {
    p.request();
    p.answer(R"({"code":429,"reason":"TooManyRequests"})", "429 Too Many", "Retry-After: 3\r\n");
  });
  const auto event = watched.watch->next(kPatience);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::kError);
  EXPECT_EQ(event->error.retry_after, std::chrono::seconds(3));
}

TEST(WatchTest, SilenceIsNoEnd) {
  std::latch was_quiet(1);
  Watched watched([&](Peering& p) {
    p.request();
    p.send(kStart);
    p.send_chunk("{\"type\":\"ADDED\",");
    was_quiet.wait();
    p.send_chunk("\"object\":{}}\n");
    p.wait_for_close();
  });
  EXPECT_EQ(error_of([&] { watched.watch->next(Milliseconds(50)); }), TransportError::Kind::kTimeout);
  was_quiet.count_down();
  EXPECT_TRUE(watched.watch->next(kPatience));
}

TEST(WatchTest, AnEndWithinAnEventIsBroken) {
  for (const char* text :
       {"{\"type\":\"ADDED\",", "no event\n", "{\"type\":\"NEW\",\"object\":{}}\n", "{}\n"}) {
    Watched watched([&](Peering& p) {
      p.request();
      p.send(kStart);
      p.send_chunk(text);
      p.send("0\r\n\r\n");
    });
    EXPECT_EQ(error_of([&] { watched.watch->next(kPatience); }), TransportError::Kind::kBroken) << text;
  }
}

TEST(WatchTest, CancelEndsTheWait) {
  Watched watched([](Peering& p) {
    p.request();
    p.send(kStart);
    p.wait_for_close();
  });
  std::thread other([&] {
    std::this_thread::sleep_for(Milliseconds(50));
    watched.watch->cancel();
  });
  EXPECT_EQ(error_of([&] { watched.watch->next(Milliseconds(20'000)); }), TransportError::Kind::kCancelled);
  other.join();
}

}  // namespace
}  // namespace atl::kube
