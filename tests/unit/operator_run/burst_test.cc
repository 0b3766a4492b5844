// Many gangs at once among other people's pods, with three levels of topology: the clusters of benchmarks B1
// and B4, without an API server. What is timed is a look at a job with its plan, and the plan alone.
#include <algorithm>
#include <random>
#include <vector>

#include "operator_run/many_gangs.h"

namespace atl::ctl {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsTimed = false;
constexpr int kFewer = 5;  // a sanitizer's processor time tells nothing, and is long
#else
constexpr bool kIsTimed = true;
constexpr int kFewer = 1;
#endif

struct Burst : ManyGangs {
  static constexpr int kServers = 8, kNodesOfARack = 16, kNodesOfAZone = 250;
  static constexpr double kMost = 30;  // milliseconds, of B1's decisions and B4's plans

  std::vector<double> looks, plan_times;  // milliseconds of processor time

  Burst() {
    search_plan = [this](const Gang& gang, const Snapshot& snapshot) {
      const double begin = cpu_seconds();
      GangPlan plan = plan_gang(gang, snapshot);
      plan_times.push_back(1000 * (cpu_seconds() - begin));
      return plan;
    };
  }
  void SetUp() override {}

  /// `others`: pods on each node.
  void fill(int nodes, int others, int jobs) {
    for (int n = 0; n < nodes; ++n) {
      json each = node(name_of(n), "32");
      each["metadata"]["labels"]["zone"] = "zone-" + std::to_string(n / kNodesOfAZone);
      each["metadata"]["labels"]["rack"] = "rack-" + std::to_string(n / kNodesOfARack);
      put("nodes", each);
      for (int p = 0; p < others / kFewer; ++p)
        put_other_pod("app-" + std::to_string(n) + "-" + std::to_string(p), name_of(n), "250m");
    }
    levels = {"zone", "rack", "kubernetes.io/hostname"};
    draw_flows();
    for (int j = 0; j < jobs; ++j) add_job(job_name(j), kServers, 4);
  }
  /// Each part borders on a few others.
  void draw_flows() {
    std::mt19937 random{1};
    for (int from = 0; from < kServers; ++from)
      for (int to = 0; to < kServers; ++to)
        if (from != to && random() % 2 == 0) flows.push_back({from, to, 10'000 + int(random() % 990'000)});
  }
  static std::string name_of(int node) { return "node-" + std::to_string(node); }
  static std::string job_name(int job) { return "gang-" + std::to_string(job); }

  void look_at(int jobs) {
    int placed = 0;
    for (int j = 0; j < jobs; ++j) {
      const double begin = cpu_seconds();
      const Decision decision = look(job_name(j));
      looks.push_back(1000 * (cpu_seconds() - begin));
      placed += decision.status && holds(decision.status->conditions, kPlaced);
    }
    EXPECT_EQ(placed, jobs) << "there is room for all";
    EXPECT_EQ(plan_times.size(), std::size_t(jobs)) << "each is planned once";
  }
  static double at(std::vector<double> times, double share) {
    std::ranges::sort(times);
    return times.empty() ? 0 : times[std::size_t(share * double(times.size() - 1))];
  }
  static void expect_quick(const std::vector<double>& times, const char* goal) {
    if (kIsTimed) {
      EXPECT_LE(at(times, 0.99), kMost) << goal;
    }
  }
  void report(const char* what) const {
    std::printf(
        "%s: a look takes %.2f ms of processor time, p99 %.2f ms; of that a plan %.2f ms, p99 %.2f ms\n",
        what, at(looks, 0.5), at(looks, 0.99), at(plan_times, 0.5), at(plan_times, 0.99));
  }
};

TEST_F(Burst, OfFiveHundredGangsEachDecisionTakesAtMostThirtyMilliseconds) {
  fill(1000, 30, 500);
  look_at(500);
  report("500 gangs of 8 among 30,000 other pods on 1,000 nodes");
  expect_quick(looks, "the goal of B1 where nothing waits for a processor or an API server");
}

TEST_F(Burst, OnFiveThousandNodesEachPlanTakesAtMostThirtyMilliseconds) {
  fill(5000, 20, 100);
  look_at(100);
  report("100 gangs of 8 among 100,000 other pods on 5,000 nodes");
  expect_quick(plan_times, "the goal of B4");
}

}  // namespace
}  // namespace atl::ctl
