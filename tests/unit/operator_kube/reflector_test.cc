// A reflector against a server that plays the API: lists, watches, and whatever ends them.
#include "operator/kube/reflector.h"

#include "base/json.h"
#include "operator/kube/cache.h"
#include "operator_kube/fake_clock.h"
#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json object(const std::string& name, const std::string& version) {
  return {{"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", version}}}};
}
std::string list(const std::string& version, const std::vector<json>& items) {
  return json{{"metadata", {{"resourceVersion", version}}}, {"items", items}}.dump();
}
std::string event(const char* type, const json& about) {
  return json{{"type", type}, {"object", about}}.dump() + "\n";
}
std::string status(int code) {
  return json{{"code", code}, {"reason", "X"}}.dump();
}

/// What the server does with the next request.
struct Turn {
  int code = 200;
  std::string body;         // the list, the refusal, or all of the watch's events
  bool is_watch = false;    // is ended in good order after its events
  bool stays_open = false;  // isn't
  bool is_torn = false;     // is cut off
};
Turn lists(const std::string& version, const std::vector<json>& items) {
  return {200, list(version, items)};
}
Turn refuses(int code) {
  return {code, status(code)};
}
Turn sends(const std::string& events) {
  return {200, events, true};
}

struct ReflectorTest : testing::Test {
  /// Plays the turns, then stops the reflector when it asks once more.
  void play(std::vector<Turn> turns) {
    std::mutex mutex;
    std::size_t turn = 0;
    ScriptedServer server([&](Peering& p) {
      for (std::string request; !(request = p.request()).empty();) {
        Turn now;
        {
          std::lock_guard lock(mutex);
          if (turn == turns.size()) return (void)stop.request_stop();
          requests.push_back(request.substr(4, request.find(" HTTP") - 4));
          now = turns[turn++];
        }
        if (!act(p, now)) return;
      }
    });
    const auto transport = cpprest_transport(server.address(), always({}));
    Client client(*transport, stop.get_token(), {.times = 0}, clock);
    Reflector reflector(client, cache,
                        {.path = "/api/v1/pods",
                         .only = {"a=b", ""},
                         .may_be_absent = may_be_absent,
                         .quiet = Milliseconds(200),
                         .on_unreadable = [this](const std::string& name,
                                                 const std::string&) { unreadable.push_back(name); }},
                        clock);
    EXPECT_FALSE(reflector.has_synced());
    reflector.run(stop.get_token());
    synced_lists = reflector.lists();
    has_synced = reflector.has_synced();
    out_of_touch = reflector.out_of_touch();
    problem = reflector.problem();
  }
  static bool act(Peering& p, const Turn& turn) {
    if (!turn.is_watch) return p.answer(turn.body, std::to_string(turn.code) + " X");
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (!turn.body.empty()) p.send_chunk(turn.body);
    if (turn.is_torn) return false;
    if (turn.stays_open) return p.wait_for_close() && false;
    return p.send("0\r\n\r\n");
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& value : cache.all()) all.push_back(*value);
    std::sort(all.begin(), all.end());
    return all;
  }
  /// The version that a request asks for.
  std::string version(std::size_t request) const {
    const std::string& text = requests.at(request);
    const auto at = text.find("resourceVersion=");
    return at == std::string::npos ? "" : text.substr(at + 16, text.find('&', at) - at - 16);
  }
  bool is_watch(std::size_t request) const {
    return requests.at(request).find("watch=true") != std::string::npos;
  }

  std::stop_source stop;
  FakeClock clock;
  std::vector<std::string> requests;
  int synced_lists = 0;
  bool may_be_absent = false, has_synced = false;
  Milliseconds out_of_touch{0};
  std::string problem;
  std::vector<std::string> unreadable;
  Cache<std::string> cache{[](std::string_view text) {
                             const ObjectKey key = object_key(text);
                             if (key.version == "odd") throw std::invalid_argument("an odd object");
                             return key.name + "@" + key.version;
                           },
                           [](const auto&, const auto&, const auto&) {}};
};

TEST_F(ReflectorTest, ListsThenWatchesFromTheListsVersion) {
  play({lists("10", {object("a", "5"), object("b", "6")}),
        sends(event("ADDED", object("c", "11")) + event("MODIFIED", object("a", "12")) +
              event("DELETED", object("b", "13")))});
  EXPECT_THAT(names(), ElementsAre("a@12", "c@11"));
  EXPECT_EQ(synced_lists, 1);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_FALSE(is_watch(0));
  EXPECT_THAT(requests[0], HasSubstr("labelSelector=a%3Db"));
  EXPECT_EQ(version(0), "0") << "the first list is content with what the server has at hand";
  EXPECT_TRUE(is_watch(1));
  EXPECT_EQ(version(1), "10");
}

TEST_F(ReflectorTest, AKindThatTheServerLacksIsWaitedFor) {
  play({refuses(404)});
  EXPECT_FALSE(has_synced) << "it must be there, so it is waited for";
}

TEST_F(ReflectorTest, AKindThatMayBeAbsentIsListedOnceItIsThere) {
  may_be_absent = true;
  play({refuses(404), lists("10", {object("a", "5")})});
  EXPECT_TRUE(has_synced);
  EXPECT_THAT(names(), ElementsAre("a@5"));
  EXPECT_THAT(clock.sleeps(), testing::Contains(testing::Ge(Milliseconds(30'000))))
      << "and not asked for all the time";
}

TEST_F(ReflectorTest, AKindThatMayBeAbsentAndIsCountsAsNone) {
  may_be_absent = true;
  play({refuses(404)});
  EXPECT_TRUE(has_synced);
  EXPECT_EQ(synced_lists, 0);
}

TEST_F(ReflectorTest, ACleanEndResumesAtOnceFromTheLastVersion) {
  play({lists("10", {}), sends(event("ADDED", object("a", "11"))), sends(event("BOOKMARK", object("", "50"))),
        sends(event("ADDED", object("b", "51")))});
  EXPECT_EQ(version(2), "11");
  EXPECT_EQ(version(3), "50") << "a bookmark moves on what is resumed from";
  EXPECT_THAT(names(), ElementsAre("a@11", "b@51")) << "and is no object";
  EXPECT_EQ(synced_lists, 1);
  EXPECT_THAT(clock.sleeps(), testing::IsEmpty());
}

TEST_F(ReflectorTest, AForgottenVersionIsListedAnewAndWhatVanishedIsGone) {
  const std::string gone = event("ERROR", parse_json(status(410)));
  for (const Turn& end : {refuses(410), sends(gone)}) {
    requests.clear();
    stop = std::stop_source();
    play({lists("10", {object("a", "5"), object("b", "6")}), end, lists("90", {object("b", "80")}),
          sends("")});
    EXPECT_THAT(names(), ElementsAre("b@80"));
    EXPECT_EQ(synced_lists, 2);
    EXPECT_FALSE(is_watch(2));
    EXPECT_EQ(version(2), "10") << "never older than what we have seen, never the latest at any price";
    EXPECT_EQ(version(3), "90");
  }
}

TEST_F(ReflectorTest, AListThatIsRefusedIsAskedForTheLatest) {
  play({lists("10", {}), refuses(410), refuses(410), lists("90", {object("a", "1")})});
  EXPECT_EQ(version(2), "10");
  EXPECT_EQ(version(3), "");
  EXPECT_THAT(names(), ElementsAre("a@1"));
}

TEST_F(ReflectorTest, ATornWatchIsResumedNotListedAnew) {
  Turn torn = sends(event("ADDED", object("a", "11")) + "{\"type\":");
  torn.is_torn = true;
  play({lists("10", {}), torn, sends(event("ADDED", object("b", "12")))});
  EXPECT_TRUE(is_watch(2));
  EXPECT_EQ(version(2), "11");
  EXPECT_THAT(names(), ElementsAre("a@11", "b@12"));
}

TEST_F(ReflectorTest, ASilentWatchIsGivenUpAndResumed) {
  Turn silent = sends(event("ADDED", object("a", "11")));
  silent.stays_open = true;
  play({lists("10", {}), silent, sends("")});
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_TRUE(is_watch(2));
  EXPECT_EQ(version(2), "11");
}

TEST_F(ReflectorTest, TroubleBacksOffAndCalmResets) {
  play({refuses(500), refuses(503), refuses(500), lists("10", {}), sends(event("ADDED", object("a", "11"))),
        refuses(503)});
  const auto sleeps = clock.sleeps();
  ASSERT_EQ(sleeps.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(sleeps[std::size_t(i)], Milliseconds(800 << i));
    EXPECT_LE(sleeps[std::size_t(i)], Milliseconds(1600 << i));
  }
  EXPECT_LE(sleeps[3], Milliseconds(1600)) << "an event has come meanwhile";
}

TEST_F(ReflectorTest, WatchesThatEndAtOnceBackOff) {
  play({lists("10", {}), sends(""), sends(""), sends("")});
  EXPECT_EQ(clock.sleeps().size(), 3u);
}

TEST_F(ReflectorTest, AnObjectThatCantBeReadIsPassedOver) {
  play({lists("10", {object("a", "5"), object("b", "odd"), object("c", "7")}),
        sends(event("MODIFIED", object("a", "odd")) + event("ADDED", object("d", "12"))), refuses(410),
        lists("20", {object("a", "odd"), object("c", "7"), object("d", "12")}), sends("")});
  EXPECT_THAT(names(), ElementsAre("a@5", "c@7", "d@12")) << "what was known of it stays";
  EXPECT_THAT(unreadable, ElementsAre("b", "a", "a"));
}

TEST_F(ReflectorTest, AListOfAnotherFormIsTroubleAndNotTheEnd) {
  play({{200, R"({"metadata": {"resourceVersion": 7}, "items": []})"}, lists("10", {object("a", "5")})});
  EXPECT_THAT(names(), ElementsAre("a@5"));
  EXPECT_EQ(synced_lists, 1);
  EXPECT_THAT(problem, HasSubstr("must be string"));
  ASSERT_FALSE(clock.sleeps().empty());
  EXPECT_GE(clock.sleeps()[0], Milliseconds(800)) << "as after a refusal";
}

TEST_F(ReflectorTest, WhoIsToldNothingIsOutOfTouchAndSaysWhy) {
  play({refuses(404), refuses(404), refuses(404)});
  EXPECT_GE(out_of_touch, Milliseconds(800 + 1600 + 3200)) << "from the beginning";
  EXPECT_THAT(problem, testing::AllOf(HasSubstr("404"), HasSubstr("install its CustomResourceDefinition")));
}

TEST_F(ReflectorTest, AWatchThatIsRefusedIsOutOfTouchFromThenOn) {
  play({lists("10", {}), sends(event("ADDED", object("a", "11"))), refuses(403), refuses(403), refuses(403)});
  EXPECT_TRUE(has_synced) << "it held everything once";
  EXPECT_GE(out_of_touch, Milliseconds(800 + 1600 + 3200));
  EXPECT_LE(out_of_touch, Milliseconds(2 * (800 + 1600 + 3200)));
  EXPECT_THAT(problem, HasSubstr("403"));
}

TEST_F(ReflectorTest, WhoWatchesIsInTouch) {
  play({refuses(500), lists("10", {}), sends(event("ADDED", object("a", "11"))), refuses(503), sends("")});
  EXPECT_EQ(out_of_touch, Milliseconds(0));
}

TEST_F(ReflectorTest, AKindThatMayBeAbsentIsNoReasonToBeOutOfTouch) {
  may_be_absent = true;
  play({refuses(404), refuses(404)});
  EXPECT_EQ(out_of_touch, Milliseconds(0));
}

TEST_F(ReflectorTest, AStopEndsASilentWatch) {
  Turn silent = sends("");
  silent.stays_open = true;
  std::thread other([&] {
    std::this_thread::sleep_for(Milliseconds(100));
    stop.request_stop();
  });
  EXPECT_LT(seconds_of([&] { play({lists("10", {}), silent}); }), 2);
  other.join();
}

}  // namespace
}  // namespace atl::kube
