// Two installations before one API server: the second finds the first's lease, and says whose it is.
#include "operator/run/other_installations.h"

#include <gmock/gmock.h>

#include <functional>

#include "base/error.h"
#include "operator_kube/fake_clock.h"
#include "operator_run/fake_api.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// An API server that lists leases, and nothing else.
struct LeaseList final : kube::Transport {
  std::map<std::string, json> leases;  // by namespace
  std::function<void()> before;        // each answer
  int status = 200;
  std::string asked;

  std::unique_ptr<kube::Stream> open(const kube::Request& request) override {
    if (before) before();
    asked = request.target;
    if (status != 200)
      return std::make_unique<TextStream>(status, R"({"kind": "Status", "message": "leases is forbidden"})");
    json list = {{"metadata", {{"resourceVersion", "1"}}}, {"items", json::array()}};
    for (const auto& [space, lease] : leases) list["items"].push_back(lease);
    return std::make_unique<TextStream>(200, list.dump());
  }
};

struct RivalsTest : testing::Test {
  LeaseList api;
  kube::FakeClock clock;
  kube::Client client{api, {}, {.times = 0}, clock};
  Options options;

  void hold(const std::string& space, const std::string& holder, const std::string& renewed,
            const std::string& spaces = "") {
    api.leases[space] = {
        {"metadata",
         {{"name", "atoll-operator"},
          {"namespace", space},
          {"annotations", {{"atoll.dev/namespaces", spaces}}}}},
        {"spec", {{"holderIdentity", holder}, {"renewTime", renewed}, {"leaseDurationSeconds", 15}}}};
  }
  void hold_and_renew(const std::string& space, const std::string& holder, const std::string& spaces = "") {
    api.before = [=, this, renewals = 0]() mutable {
      hold(space, holder, std::to_string(renewals++), spaces);
    };
  }
  OtherInstallations second() {
    return OtherInstallations(client, options, {.space = "second", .name = "atoll-operator"}, clock);
  }
  static std::string refusal(const std::function<void()>& step) {
    try {
      step();
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string refusal_at_start() {
    return refusal([this] { second().expect_none({}); });
  }
};

TEST_F(RivalsTest, TheSecondIsRefusedWithTheFirstsName) {
  hold_and_renew("first", "atoll-0");
  EXPECT_THAT(refusal_at_start(),
              AllOf(HasSubstr("atoll-0 (lease first/atoll-operator)"), HasSubstr("class atoll"),
                    HasSubstr("all namespaces"), HasSubstr("--class")));
  EXPECT_THAT(api.asked, HasSubstr("operator-class"));
}

TEST_F(RivalsTest, OneThatHasEndedOrDiedIsNoRival) {
  hold("first", "", "1");
  EXPECT_THAT(refusal_at_start(), IsEmpty());
  EXPECT_THAT(clock.sleeps(), IsEmpty());
  hold("first", "atoll-0", "1");
  EXPECT_THAT(refusal_at_start(), IsEmpty());
  EXPECT_GE(clock.now().time_since_epoch(), std::chrono::seconds(15)) << "for as long as it may be silent";
}

TEST_F(RivalsTest, OtherNamespacesAreNobodys) {
  hold_and_renew("first", "atoll-0", "team-a,team-b");
  options.spaces = {"team-c", "team"};
  EXPECT_THAT(refusal_at_start(), IsEmpty());
  options.spaces = {"team-c", "team-b"};
  EXPECT_THAT(refusal_at_start(), HasSubstr("in team-a,team-b already"));
  options.spaces = {};
  EXPECT_THAT(refusal_at_start(), HasSubstr("in team-a,team-b already"));
}

TEST_F(RivalsTest, ItsOwnReplicasAreNone) {
  hold_and_renew("second", "atoll-1");
  EXPECT_THAT(refusal_at_start(), IsEmpty());
}

TEST_F(RivalsTest, OneThatBeganAtTheSameMomentIsSeenOnceTheLeaseIsHeld) {
  hold("dead", "atoll-9", "1");
  OtherInstallations others = second();
  others.expect_none({});
  EXPECT_THAT(refusal([&] { others.expect_none_new(); }), IsEmpty());
  hold("first", "atoll-0", "1");
  EXPECT_THAT(refusal([&] { others.expect_none_new(); }), HasSubstr("atoll-0"));
}

/// An overloaded server is no reason to end.
TEST_F(RivalsTest, WhoIsNotToldKnowsThatItDoesNotKnow) {
  OtherInstallations others = second();
  others.expect_none({});
  api.status = 500;
  bool is_known = true;
  EXPECT_THAT(refusal([&] { is_known = others.expect_none_new(); }), IsEmpty());
  EXPECT_FALSE(is_known);
  api.status = 200;
  EXPECT_TRUE(others.expect_none_new());
}

/// The rights of an older chart.
TEST_F(RivalsTest, WhoeverMayNotLookGoesOn) {
  api.status = 403;
  OtherInstallations others = second();
  EXPECT_THAT(refusal([&] { others.expect_none({}); }), IsEmpty());
  EXPECT_TRUE(others.expect_none_new());
}

}  // namespace
}  // namespace atl::ctl
