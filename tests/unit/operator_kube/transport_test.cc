// The contract of every Transport with a server that answers, answers late or badly, or not at all.
#include "operator/kube/transport.h"

#include <latch>

#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(All, TransportTest, testing::ValuesIn(kTransports), name_of);

TEST_P(TransportTest, BringsStatusHeadersAndBody) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.answer("hello", "200 OK", "X-Thing: one\r\n");
  });
  const Response response = to(server)->call(get("/a"));
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.head.header("x-thing"), "one");
  EXPECT_EQ(response.head.header("absent"), "");
  EXPECT_EQ(response.body, "hello");
}

TEST_P(TransportTest, SendsWhatItIsGiven) {
  std::string seen;
  ScriptedServer server([&](Peering& p) {
    seen = p.request();
    p.answer("");
  });
  Request request = get("/apis/x?labelSelector=a%3Db%2Cc&limit=500");
  request.method = "PATCH";
  request.body = R"({"a":1})";
  request.headers = {{"Content-Type", "application/merge-patch+json"}};
  to(server, {.token = "secret"})->call(request);
  EXPECT_THAT(seen, testing::StartsWith("PATCH /apis/x?labelSelector=a%3Db%2Cc&limit=500 HTTP/1.1\r\n"));
  EXPECT_EQ(header_in(seen, "Authorization"), "Bearer secret");
  EXPECT_EQ(header_in(seen, "Content-Type"), "application/merge-patch+json");
  EXPECT_THAT(seen, testing::EndsWith("\r\n\r\n{\"a\":1}"));
}

TEST_P(TransportTest, StatusesAreNoErrors) {
  for (const char* status : {"201 Created", "404 Not Found", "410 Gone", "429 Too Many Requests", "503 No"}) {
    ScriptedServer server([&](Peering& p) {
      p.request();
      p.answer("why", status, "Retry-After: 7\r\n");
    });
    const Response response = to(server)->call(get("/"));
    EXPECT_EQ(response.head.status, std::stoi(status));
    EXPECT_EQ(response.head.header("Retry-After"), "7");
    EXPECT_EQ(response.body, "why");
  }
}

TEST_P(TransportTest, AnAnswerWithoutABodyIsWhole) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 204 No Content\r\n\r\n");
    p.wait_for_close();
  });
  EXPECT_EQ(to(server)->call(get("/")).head.status, 204);
}

TEST_P(TransportTest, ARedirectIsNotFollowed) {
  std::atomic<int> visits = 0;
  ScriptedServer elsewhere([&](Peering&) { ++visits; });
  for (const char* status : {"301 Moved", "302 Found", "307 Temporary", "308 Permanent"}) {
    ScriptedServer server([&](Peering& p) {
      p.request();
      p.answer("", status, "Location: " + elsewhere.address() + "/\r\n");
    });
    EXPECT_EQ(to(server, {.token = "secret"})->call(get("/")).head.status, std::stoi(status));
  }
  EXPECT_EQ(visits, 0);
}

TEST_P(TransportTest, AsksForTheTokenBeforeEachRequest) {
  std::vector<std::string> seen;
  ScriptedServer server([&](Peering& p) {
    for (std::string next; !(next = p.request()).empty();) {
      seen.push_back(next);
      p.answer("");
    }
  });
  int asked = 0;
  const auto transport = GetParam().make(server.address(), [&] {
    return std::make_shared<const Credentials>(Credentials{.token = "t" + std::to_string(++asked)});
  });
  transport->call(get("/"));
  transport->call(get("/"));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(header_in(seen[0], "Authorization"), "Bearer t1");
  EXPECT_EQ(header_in(seen[1], "Authorization"), "Bearer t2");
}

TEST_P(TransportTest, CredentialsThatCannotBeReadAreAnError) {
  ScriptedServer server([](Peering& p) { p.request(); });
  const auto transport = GetParam().make(
      server.address(), []() -> std::shared_ptr<const Credentials> { fail("the token file is gone"); });
  std::string words;
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }, &words), Kind::kTls);
  EXPECT_THAT(words, HasSubstr("the token file is gone"));
}

TEST_P(TransportTest, ChunksArriveAsTheyAreSent) {
  std::latch first_is_read(1);
  ScriptedServer server([&](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    p.send_chunk("one\n");
    first_is_read.wait();
    p.send("4\r\ntw");
    std::this_thread::sleep_for(Milliseconds(20));
    p.send("o\n\r\n0\r\n\r\n");
  });
  const auto transport = to(server);
  const auto stream = transport->open(get("/watch"));
  char part[100];
  EXPECT_EQ(stream->read(part, sizeof part, Milliseconds(5000)), 4u);
  first_is_read.count_down();
  EXPECT_EQ(rest_of(*stream), "two\n");
  EXPECT_EQ(stream->read(part, sizeof part, Milliseconds(1)), 0u) << "the end stays the end";
}

// What a server sends before it falls silent or ends the connection: never an answer.
struct Torn {
  const char* name;
  std::string_view sent;
  bool is_reset;
};

const Torn kTorn[] = {
    {"nothing", "", false},
    {"nothing, reset", "", true},
    {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", false},
    {"half a status line", "HTTP/1.1 20", false},
    {"half the headers", "HTTP/1.1 200 OK\r\nContent-Le", false},
    {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", false},
    {"half a body, reset", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", true},
    {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello", false},
    {"half a chunk, reset", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello", true},
    {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false},
    {"a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello", false},
};

TEST_P(TransportTest, HalfAnAnswerIsBroken) {
  for (const Torn& torn : kTorn) {
    ScriptedServer server([&](Peering& p) {
      p.request();
      p.send(torn.sent);
      std::this_thread::sleep_for(Milliseconds(20));
      if (torn.is_reset) p.reset();
    });
    std::string words;
    EXPECT_EQ(error_of([&] { to(server)->call(get("/half")); }, &words), Kind::kBroken) << torn.name;
    EXPECT_THAT(words, HasSubstr("GET " + server.address() + "/half: ")) << torn.name;
  }
}

TEST_P(TransportTest, ABrokenStreamStaysBroken) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\nwor");
  });
  const auto stream = to(server)->open(get("/"));
  EXPECT_EQ(error_of([&] { rest_of(*stream); }), Kind::kBroken);
  EXPECT_EQ(error_of([&] { rest_of(*stream); }), Kind::kBroken);
}

TEST_P(TransportTest, NobodyThereIsNoConnection) {
  int port = 0;
  {
    port = ScriptedServer([](Peering&) {}).port();
  }
  std::string words;
  const auto transport = to("http://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }, &words), Kind::kConnect);
  EXPECT_EQ(error_of([&] { to("http://no-such-host.invalid:80")->call(get("/")); }), Kind::kConnect);
}

TEST_P(TransportTest, AnAddressThatIsNoneIsRefused) {
  for (const char* server : {"", "10.0.0.1:443", "ftp://a", "https://", "https://a/path", "https://[fd00::1",
                             "https://[fd00::g]:443", "https://[10.0.0.1]:443", "https://[fd00::1]443",
                             "https://[fd00::1]:", "https://[fd00::1]:4a", "https://:443"})
    EXPECT_THROW(to(server), Error) << server;
}

TEST_P(TransportTest, AnIpv6AddressStandsInBrackets) {
  std::string seen;
  ScriptedServer server(
      [&](Peering& p) {
        seen = p.request();
        p.answer("six");
      },
      {}, AF_INET6);
  EXPECT_EQ(to(server.address("[::1]"))->call(get("/a")).body, "six");
  EXPECT_EQ(header_in(seen, "Host"), "[::1]:" + std::to_string(server.port()));
}

}  // namespace
}  // namespace atl::kube
