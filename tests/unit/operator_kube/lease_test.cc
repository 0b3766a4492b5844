// Replicas that contend for a lease on a server that keeps one, and refuses writes to an outdated version.
#include "operator/kube/lease.h"

#include <functional>

#include "base/json.h"
#include "operator_kube/fake_clock.h"
#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using std::chrono::seconds;

/// An API server that holds one Lease object.
struct LeaseServer {
  std::mutex mutex;
  json lease;  // null: none yet
  int version = 0;
  bool is_down = false;
  std::string forbidden;  // what the server refuses: "GET", "POST" or "PUT"
  std::function<void()> on_write = [] {};
  ScriptedServer server{[this](Peering& p) {
    for (std::string request; !(request = p.request()).empty();) {
      std::lock_guard lock(mutex);
      if (is_down) return;
      answer(p, request);
    }
  }};

  void answer(Peering& p, const std::string& request) {
    if (!forbidden.empty() && request.starts_with(forbidden))
      return (void)p.answer(json{{"kind", "Status"}, {"message", "may not " + forbidden}}.dump(), "403 No");
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    if (request.starts_with("GET"))
      return (void)(lease.is_null() ? p.answer("{}", "404 Not Found") : p.answer(lease.dump()));
    json written = parse_json(body);
    const bool is_new = request.starts_with("POST");
    const std::string read = written["metadata"].value("resourceVersion", "");
    if (is_new ? !lease.is_null() : read != std::to_string(version))
      return (void)p.answer("{}", "409 Conflict");
    on_write();
    written["metadata"]["resourceVersion"] = std::to_string(++version);
    lease = written;
    p.answer(lease.dump());
  }
  std::string holder() {
    std::lock_guard lock(mutex);
    return lease["spec"]["holderIdentity"];
  }
  void set_down(bool down) {
    std::lock_guard lock(mutex);
    is_down = down;
  }
};

/// A clock of one replica's own, that stops it after so many waits.
class StoppingClock final : public Clock {
 public:
  explicit StoppingClock(Clock& clock) : clock_(clock) {}
  Time now() override { return clock_.now(); }
  bool sleep(Milliseconds time, const std::stop_token& stop) override {
    clock_.sleep(time, stop);
    return waits-- > 0;
  }
  int waits = 0;

 private:
  Clock& clock_;
};

struct LeaseTest : testing::Test {
  struct Replica {
    Replica(LeaseServer& server, const char* name, Clock& clock)
        : stopping(clock),
          transport(cpprest_transport(server.server.address(), always({}))),
          client(*transport, {}, {.times = 0}, clock),
          lease(client,
                {.space = "atoll-system",
                 .name = "atoll-operator",
                 .identity = name,
                 .is_fit = [this] { return is_fit; },
                 .on_problem = [this](const std::string& why) { told.push_back(why); }},
                stopping) {}
    /// Tries to lead so many times.
    bool acquires(int tries) {
      stopping.waits = tries - 1;
      return lease.acquire({});
    }
    /// Renews so many times.
    bool holds(int renewals) {
      stopping.waits = renewals;
      return lease.hold({});
    }
    bool is_fit = true;
    std::vector<std::string> told;
    StoppingClock stopping;
    const std::unique_ptr<Transport> transport;
    Client client;
    Lease lease;
  };
  FakeClock clock;
  LeaseServer server;
  Replica a{server, "a", clock}, b{server, "b", clock};
};

TEST_F(LeaseTest, TheFirstLeadsAndTheOtherWaits) {
  EXPECT_TRUE(a.acquires(1));
  EXPECT_TRUE(a.lease.leads());
  EXPECT_FALSE(b.acquires(3));
  EXPECT_FALSE(b.lease.leads());
  EXPECT_EQ(server.lease["kind"], "Lease");
  EXPECT_EQ(server.lease["metadata"]["name"], "atoll-operator");
  const json spec = server.lease["spec"];
  EXPECT_EQ(spec["holderIdentity"], "a");
  EXPECT_EQ(spec["leaseDurationSeconds"], 15);
  EXPECT_THAT(std::string(spec["renewTime"]), testing::MatchesRegex("....-..-..T..:..:..[.]......Z"));
}

TEST_F(LeaseTest, ALeaderThatRenewsKeepsIt) {
  ASSERT_TRUE(a.acquires(1));
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(a.holds(1)) << i;
    EXPECT_FALSE(b.acquires(1)) << i;
  }
  EXPECT_EQ(server.holder(), "a");
}

TEST_F(LeaseTest, AnotherTakesOverAfterTheDurationAsItSawItItself) {
  ASSERT_TRUE(a.acquires(1));
  clock.advance(seconds(100));  // b hasn't looked yet: for it the lease is fresh, whatever its times say
  EXPECT_FALSE(b.acquires(1));
  clock.advance(Milliseconds(12'900));  // the try has slept 2 s
  EXPECT_FALSE(b.acquires(1)) << "14.9 s after it saw it first";
  EXPECT_TRUE(b.acquires(1));
  EXPECT_EQ(server.holder(), "b");
  EXPECT_EQ(server.lease["spec"]["leaseTransitions"], 1);
}

TEST_F(LeaseTest, ALeaderThatCannotRenewStopsBeforeOthersBegin) {
  ASSERT_TRUE(a.acquires(1));
  EXPECT_FALSE(b.acquires(1));
  server.set_down(true);
  const auto since = clock.now();
  EXPECT_FALSE(a.holds(100));
  EXPECT_FALSE(a.lease.leads());
  EXPECT_GE(clock.now() - since, seconds(6));
  EXPECT_LE(clock.now() - since, seconds(10)) << "others may begin after 15 s";
  server.set_down(false);
  EXPECT_FALSE(b.acquires(1));
}

TEST_F(LeaseTest, AFailureThatPassesIsSurvived) {
  ASSERT_TRUE(a.acquires(1));
  server.set_down(true);
  EXPECT_TRUE(a.holds(3));
  server.set_down(false);
  EXPECT_TRUE(a.holds(10));
}

/// Where the account's role lacks leases, or a policy refuses them.
TEST_F(LeaseTest, WhoMayNotHaveItIsToldInTheServersWordsOnce) {
  for (const char* verb : {"GET", "POST"}) {
    server.forbidden = verb;
    EXPECT_FALSE(a.acquires(5));
    ASSERT_THAT(a.told, testing::ElementsAre(testing::HasSubstr(std::string("may not ") + verb)));
    EXPECT_EQ(a.lease.problem(), a.told.front());
    a.told.clear();
  }
  server.forbidden.clear();
  ASSERT_TRUE(a.acquires(1));
  EXPECT_EQ(a.lease.problem(), "");
  EXPECT_FALSE(b.acquires(3));
  EXPECT_THAT(b.told, testing::IsEmpty()) << "that somebody else leads is no problem";
  server.forbidden = "PUT";
  EXPECT_FALSE(a.holds(100));
  EXPECT_THAT(a.told, testing::ElementsAre(testing::HasSubstr("may not PUT")));
  EXPECT_THAT(a.lease.problem(), testing::HasSubstr("may not PUT")) << "why it was lost";
}

TEST_F(LeaseTest, AnAnswerThatComesTooLateIsCalledThat) {
  ASSERT_TRUE(a.acquires(1));
  server.on_write = [this] { clock.advance(seconds(11)); };  // of ten in which it must be renewed
  EXPECT_FALSE(a.holds(5));
  EXPECT_THAT(a.lease.problem(), testing::HasSubstr("too late"));
}

/// Whoever awaits the lapse has broken off the work by then.
TEST_F(LeaseTest, ARenewalThatIsAnsweredAfterTheLapseGivesNoLeadBack) {
  ASSERT_TRUE(a.acquires(1));
  server.on_write = [this, is_late = true]() mutable {
    if (std::exchange(is_late, false))
      clock.advance(seconds(9));  // it began after two, and lasts until twelve
  };
  EXPECT_FALSE(a.holds(5));
  EXPECT_FALSE(a.lease.leads());
  EXPECT_THAT(a.lease.problem(), testing::HasSubstr("too late"));
  EXPECT_TRUE(a.acquires(1)) << "it contends again";
}

TEST_F(LeaseTest, ALeaderThatWasReplacedStopsAtOnce) {
  ASSERT_TRUE(a.acquires(1));
  server.lease["spec"]["holderIdentity"] = "someone else";
  EXPECT_FALSE(a.holds(100));
  EXPECT_FALSE(a.lease.leads());
  EXPECT_EQ(server.holder(), "someone else");
}

TEST_F(LeaseTest, AReleasedLeaseIsTakenAtOnce) {
  ASSERT_TRUE(a.acquires(1));
  EXPECT_FALSE(b.acquires(1));
  a.lease.release();
  EXPECT_FALSE(a.lease.leads());
  EXPECT_TRUE(b.acquires(1));
}

TEST_F(LeaseTest, ARestartedLeaderOfTheSameNameGoesOn) {
  ASSERT_TRUE(a.acquires(1));
  Replica again{server, "a", clock};
  EXPECT_TRUE(again.acquires(1));
}

TEST_F(LeaseTest, WhoCouldDoNothingLeavesItToOthers) {
  a.is_fit = false;
  EXPECT_FALSE(a.acquires(10));
  EXPECT_TRUE(server.lease.is_null());
  EXPECT_TRUE(b.acquires(1));
  b.lease.release();
  a.is_fit = true;
  EXPECT_TRUE(a.acquires(1));
}

TEST_F(LeaseTest, ALeaderThatCanDoNothingAnyMoreHandsItOver) {
  ASSERT_TRUE(a.acquires(1));
  EXPECT_FALSE(b.acquires(1));
  a.is_fit = false;
  EXPECT_TRUE(a.holds(100)) << "it leads still, and may finish what is in hand";
  EXPECT_TRUE(a.lease.leads());
  a.lease.release();
  EXPECT_TRUE(b.acquires(1));
}

TEST_F(LeaseTest, ItsEndIsKnownToTheMomentThoughNobodyRenews) {
  ASSERT_TRUE(a.acquires(1));
  const auto since = clock.now();
  a.stopping.waits = 100;
  EXPECT_TRUE(a.lease.await_lapse({}));
  EXPECT_EQ(clock.now() - since, seconds(10));
  ASSERT_TRUE(a.acquires(1));
  a.stopping.waits = 0;
  EXPECT_FALSE(a.lease.await_lapse({})) << "stopped";
}

TEST_F(LeaseTest, AnAnswerThatIsNoLeaseIsNone) {
  server.lease = json::array();
  EXPECT_FALSE(a.acquires(3));
}

TEST_F(LeaseTest, OfTwoThatTakeItAtOnceOneLeads) {
  for (int round = 0; round < 20; ++round) {
    server.lease = nullptr;
    Replica c{server, "c", clock}, d{server, "d", clock};
    std::atomic<int> leaders = 0;
    std::thread first([&] { leaders += c.acquires(1); }), second([&] { leaders += d.acquires(1); });
    first.join(), second.join();
    EXPECT_EQ(leaders, 1);
  }
}

}  // namespace
}  // namespace atl::kube
