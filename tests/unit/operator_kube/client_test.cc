// The API's verbs as sent, the results of refusals, and which requests are repeated.
#include "operator/kube/client.h"

#include "base/json.h"
#include "operator/kube/transport.h"
#include "operator_kube/fake_clock.h"
#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = TransportError::Kind;

const std::string kPods = Resource{"", "v1", "pods"}.path("default");

std::string status(int code, const std::string& reason, const std::string& message = "because") {
  return json{{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", message}}.dump();
}

/// A server whose n-th request meets the n-th answer (the last one again and again), and a client of it.
struct ClientTest : testing::Test {
  struct Reply {
    std::string status, body, headers;
  };
  std::vector<Reply> replies;
  std::vector<std::string> requests;
  std::mutex mutex;
  ScriptedServer server{[this](Peering& p) {
    for (std::string request; !(request = p.request()).empty();) {
      std::lock_guard lock(mutex);
      requests.push_back(request);
      const Reply& reply = replies[std::min(requests.size(), replies.size()) - 1];
      if (reply.status.empty()) return;  // closes without an answer
      p.answer(reply.body, reply.status, reply.headers);
    }
  }};
  FakeClock clock;
  std::stop_source stop;
  const std::unique_ptr<Transport> transport = cpprest_transport(server.address(), always({}));
  Client client{*transport, stop.get_token(), {}, clock};

  std::size_t count() {
    std::lock_guard lock(mutex);
    return requests.size();
  }
  void forget() {
    std::lock_guard lock(mutex);
    requests.clear();
  }
  std::string line(std::size_t request) const {
    return requests.at(request).substr(0, requests.at(request).find(" HTTP"));
  }
  std::string body(std::size_t request) const {
    return requests.at(request).substr(requests.at(request).find("\r\n\r\n") + 4);
  }
};

TEST_F(ClientTest, GetGivesTheObject) {
  replies = {{"200 OK", R"({"kind":"Pod"})", ""}};
  const Answer answer = client.get(Resource{"", "v1", "pods"}.path("a", "b"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer.object, R"({"kind":"Pod"})");
  EXPECT_EQ(line(0), "GET /api/v1/namespaces/a/pods/b");
  EXPECT_EQ(header_in(requests[0], "Accept"), "application/json");
}

TEST_F(ClientTest, ARefusalIsAValue) {
  replies = {{"409 Conflict", status(409, "AlreadyExists", "pods \"a\" already exists"), ""}};
  const Answer answer = client.create(kPods, "{}");
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error->already_exists());
  EXPECT_FALSE(answer.error->is_conflict());
  EXPECT_EQ(answer.error->text(), "409 AlreadyExists: pods \"a\" already exists");
}

TEST_F(ClientTest, ARefusalThatIsNoStatusKeepsItsWords) {
  replies = {{"403 Forbidden", "<html>a proxy says no</html>", ""}};
  const Answer answer = client.get(kPods);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error->code, 403);
  EXPECT_EQ(answer.error->message, "<html>a proxy says no</html>");
}

TEST_F(ClientTest, EachVerbAsTheApiWantsIt) {
  replies = {{"200 OK", "{}", ""}};
  const std::string pod = kPods + "/a", job = Resource{"atoll.dev", "v1alpha1", "gnnjobs"}.path("x y", "j");
  client.create(kPods, R"({"new":1})", {.dry_run = true, .is_strict = true});
  client.replace(pod, R"({"whole":1})");
  client.patch(pod, "[]", {.kind = PatchKind::kJson});
  client.patch(status_path(job), R"({"status":{}})", {.kind = PatchKind::kMerge, .manager = "atoll"});
  client.patch(pod, "{}", {.kind = PatchKind::kApply, .manager = "atoll", .force = true});
  client.remove(pod, {.uid = "u-1", .grace_seconds = 0});
  EXPECT_EQ(line(0), "POST /api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Strict");
  EXPECT_EQ(body(0), R"({"new":1})");
  EXPECT_EQ(line(1), "PUT /api/v1/namespaces/default/pods/a");
  EXPECT_EQ(line(2), "PATCH /api/v1/namespaces/default/pods/a");
  EXPECT_EQ(header_in(requests[2], "Content-Type"), "application/json-patch+json");
  EXPECT_EQ(line(3), "PATCH /apis/atoll.dev/v1alpha1/namespaces/x%20y/gnnjobs/j/status?fieldManager=atoll");
  EXPECT_EQ(header_in(requests[3], "Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(line(4), "PATCH /api/v1/namespaces/default/pods/a?fieldManager=atoll&force=true");
  EXPECT_EQ(header_in(requests[4], "Content-Type"), "application/apply-patch+yaml");
  EXPECT_EQ(line(5), "DELETE /api/v1/namespaces/default/pods/a");
  EXPECT_EQ(parse_json(body(5)), parse_json(R"({"apiVersion":"v1","kind":"DeleteOptions",
    "propagationPolicy":"Background","preconditions":{"uid":"u-1"},"gracePeriodSeconds":0})"));
}

TEST_F(ClientTest, TooManyRequestsWaitAsLongAsTheServerSays) {
  replies = {{"429 Too Many Requests", status(429, "TooManyRequests"), "Retry-After: 7\r\n"},
             {"429 Too Many Requests", status(429, "TooManyRequests"), "Retry-After: 9999\r\n"},
             {"201 Created", "{}", ""}};
  EXPECT_TRUE(client.create(kPods, "{}")) << "a refusal of this kind is safe to repeat for any verb";
  EXPECT_THAT(clock.sleeps(), ElementsAre(Milliseconds(7000), Milliseconds(30'000)));
}

TEST_F(ClientTest, WhoIsAskedForMoreThanItsPatienceWaitsInItsOwnWay) {
  Client impatient(*transport, {}, {.patience = Milliseconds(1000)}, clock);
  replies = {{"429 Too Many Requests", status(429, "TooManyRequests"), "Retry-After: 1\r\n"},
             {"429 Too Many Requests", status(429, "TooManyRequests"), "Retry-After: 30\r\n"}};
  const Answer answer = impatient.create(kPods, "{}");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error->retry_after, Milliseconds(30'000));
  EXPECT_THAT(clock.sleeps(), ElementsAre(Milliseconds(1000)));
  EXPECT_EQ(count(), 2u);
}

TEST_F(ClientTest, FailuresOfTheServerAreTriedAgainAtGrowingDistance) {
  replies = {{"500 Oops", status(500, "InternalError"), ""},
             {"503 No", "", ""},
             {"504 Late", "", ""},
             {"200 OK", "{}", ""}};
  EXPECT_TRUE(client.get(kPods));
  const auto sleeps = clock.sleeps();
  ASSERT_EQ(sleeps.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(sleeps[std::size_t(i)], Milliseconds(100 << i));
    EXPECT_LE(sleeps[std::size_t(i)], Milliseconds(120 << i));
  }
}

TEST_F(ClientTest, TryingEnds) {
  replies = {{"503 No", status(503, "ServiceUnavailable"), ""}};
  const Answer answer = client.get(kPods);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error->code, 503);
  EXPECT_EQ(count(), 5u) << "once, and four times more";
}

TEST_F(ClientTest, WhatMayHaveBeenActedOnIsNotRepeated) {
  replies = {{"500 Oops", status(500, "InternalError"), ""}};
  EXPECT_FALSE(client.create(kPods, "{}"));
  EXPECT_FALSE(client.replace(kPods + "/a", "{}"));
  EXPECT_FALSE(client.patch(kPods + "/a", "[]", {.kind = PatchKind::kJson}));
  EXPECT_FALSE(client.remove(kPods + "/a"));
  EXPECT_EQ(count(), 4u);
  EXPECT_FALSE(client.remove(kPods + "/a", {.uid = "u"}));
  EXPECT_EQ(count(), 9u) << "by UID it is safe";
  forget();
  replies = {{"", "", ""}};
  EXPECT_EQ(error_of([&] { client.create(kPods, "{}"); }), Kind::kBroken);
  EXPECT_EQ(count(), 1u);
  const std::size_t waits = clock.sleeps().size();
  EXPECT_EQ(error_of([&] { client.get(kPods); }), Kind::kBroken);
  EXPECT_EQ(clock.sleeps().size(), waits + 4) << "reading is";
}

TEST_F(ClientTest, RefusalsForGoodAreNotRepeated) {
  for (const char* code :
       {"400 Bad", "401 Who", "403 No", "404 Gone", "409 Conflict", "410 Gone", "422 Invalid"}) {
    forget();
    replies = {{code, status(std::stoi(code), "X"), ""}};
    EXPECT_FALSE(client.get(kPods));
    EXPECT_EQ(count(), 1u) << code;
  }
}

TEST(ClientAlone, NobodyThereIsTriedAgainForAnyVerb) {
  const auto transport = cpprest_transport("http://127.0.0.1:1", always({}));
  FakeClock clock;
  Client client(*transport, {}, {}, clock);
  EXPECT_EQ(error_of([&] { client.create(kPods, "{}"); }), Kind::kConnect);
  EXPECT_EQ(clock.sleeps().size(), 4u);
}

/// Nobody is there, and whoever asks is stopped meanwhile.
struct StoppedMeanwhile final : Transport {
  std::stop_source stop;
  int opened = 0;

  std::unique_ptr<Stream> open(const Request&) override {
    ++opened;
    stop.request_stop();
    throw TransportError(Kind::kConnect, "nobody is there");
  }
};

TEST(ClientAlone, AStopEndsTheWaitingAndAllLaterRequests) {
  StoppedMeanwhile transport;
  FakeClock clock;
  Client client(transport, transport.stop.get_token(), {}, clock);
  EXPECT_EQ(error_of([&] { client.get(kPods); }), Kind::kCancelled);
  EXPECT_EQ(transport.opened, 1) << "it isn't tried again";
  EXPECT_EQ(error_of([&] { client.create(kPods, "{}"); }), Kind::kCancelled);
  EXPECT_EQ(transport.opened, 1) << "whoever leads no more writes nothing";
}

std::string page(int from, int to, const std::string& next) {
  json items = json::array();
  for (int i = from; i < to; ++i) items.push_back({{"metadata", {{"name", "p" + std::to_string(i)}}}});
  return json{
      {"kind", "PodList"}, {"metadata", {{"resourceVersion", "42"}, {"continue", next}}}, {"items", items}}
      .dump();
}

TEST_F(ClientTest, AListComesByPagesItemByItem) {
  replies = {{"200 OK", page(0, 3, "to ken"), ""}, {"200 OK", page(3, 5, ""), ""}};
  std::vector<std::string> names;
  const Listing listing =
      client.list(kPods, {.only = {"a=b,c!=d", "spec.nodeName!="}, .page = 3, .version = "0"},
                  [&](std::string_view item) { names.push_back(parse_json(item)["metadata"]["name"]); });
  EXPECT_FALSE(listing.error);
  EXPECT_EQ(listing.version, "42");
  EXPECT_THAT(names, ElementsAre("p0", "p1", "p2", "p3", "p4"));
  EXPECT_EQ(
      line(0),
      "GET " + kPods +
          "?labelSelector=a%3Db%2Cc%21%3Dd&fieldSelector=spec.nodeName%21%3D&limit=3&resourceVersion=0&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(
      line(1),
      "GET " + kPods +
          "?labelSelector=a%3Db%2Cc%21%3Dd&fieldSelector=spec.nodeName%21%3D&limit=3&continue=to%20ken");
}

TEST_F(ClientTest, AListThatExpiresUnderWaySaysSo) {
  replies = {{"200 OK", page(0, 3, "token"), ""}, {"410 Gone", status(410, "Expired"), ""}};
  const Listing listing = client.list(kPods, {}, [](std::string_view) {});
  ASSERT_TRUE(listing.error);
  EXPECT_TRUE(listing.error->is_expired());
}

TEST_F(ClientTest, HalfAPageIsReadAgain) {
  replies = {{"", "", ""}, {"200 OK", page(0, 1, ""), ""}};
  int items = 0;
  EXPECT_FALSE(client.list(kPods, {}, [&](std::string_view) { ++items; }).error);
  EXPECT_EQ(items, 1);
}

TEST_F(ClientTest, AListThatIsNoListIsBroken) {
  replies = {{"200 OK", "[1,2]", ""}};
  EXPECT_EQ(error_of([&] { client.list(kPods, {}, [](std::string_view) {}); }), Kind::kBroken);
}

TEST(ClientMemory, AListOf400MegabytesIsReadInAFewOfMemory) {
  ScriptedServer server([](Peering& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    p.send_chunk(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{})");
    const std::string item =
        R"(,{"metadata":{"name":"p"},"spec":{"pad":")" + std::string(10'000, 'x') + "\"}}";
    std::string chunk;
    for (int i = 0; i < 20; ++i) chunk += item;
    for (int i = 0; i < 2000; ++i)
      if (!p.send_chunk(chunk)) return;
    p.send_chunk("]}");
    p.send("0\r\n\r\n");
  });
  const auto transport = cpprest_transport(server.address(), always({}));
  Client client(*transport);
  const double before = megabytes();
  double most = before;
  int items = 0;
  const Listing listing = client.list(kPods, {}, [&](std::string_view) {
    if (++items % 1000 == 0) most = std::max(most, megabytes());
  });
  EXPECT_FALSE(listing.error);
  EXPECT_EQ(items, 40'001);
  EXPECT_LT(most - before, 12);
}

}  // namespace
}  // namespace atl::kube
