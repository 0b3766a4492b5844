// Two thousand gangs that wait while pods end all the time, and a plan's part outside the search among five
// thousand nodes. Searches and looks are counted, in virtual time; processor times and memory are printed.
#include <malloc.h>

#include <random>

#include "operator/plan/room.h"
#include "operator_run/many_gangs.h"

namespace atl::ctl {
namespace {

struct Crowd : ManyGangs {
  std::mt19937 random{11};

  void SetUp() override {}
  void add_nodes(int count) {
    for (int n = 0; n < count; ++n) put("nodes", node(name_of(n)));
  }
  void add_other_pods(int count, int nodes, const char* cores) {
    for (int p = 0; p < count; ++p) put_other_pod("app-" + std::to_string(p), name_of(p % nodes), cores);
  }
  static std::string name_of(int node) { return "node-" + std::to_string(node); }
  int draw(int below) { return int(random() % unsigned(below)); }
};

TEST_F(Crowd, TwoThousandGangsWaitAndTwentyPodsEndASecond) {
  constexpr int kNodes = 1000, kOthers = 4 * kNodes, kWaiting = 2000, kShapes = 20;
  constexpr int kSeconds = 30, kWakesASecond = 10;
  add_nodes(kNodes);
  add_other_pods(kOthers, kNodes, "1500m");  // two cores of eight are free
  for (int g = 0; g < kWaiting; ++g)
    add_job("gang-" + std::to_string(g), 2 + g % kShapes % 5, 2.5 + g % kShapes * 0.25);
  const auto name = [](int gang) { return "gang-" + std::to_string(gang); };
  for (int g = 0; g < kWaiting; ++g) look(name(g));
  searches();
  int looks = 0, next = 0, placed = 0;
  const auto look_at = [&](const std::string& job) {
    const Decision decision = look(job);
    ++looks;
    placed += decision.status && holds(decision.status->conditions, kPlaced);
  };
  const double begin = cpu_seconds();
  for (int wake = 0; wake < kSeconds * kWakesASecond; ++wake) {
    now = kNow + Seconds(wake / kWakesASecond);
    for (int ends = 0; ends < 2; ++ends)  // another pod begins elsewhere
      put_other_pod("app-" + std::to_string(draw(kOthers)), name_of(draw(kNodes)), "1500m");
    for (const std::string& job : planner.could_fit_now()) look_at(job.substr(5));
    for (; next < (wake + 1) * kWaiting / (60 * kWakesASecond); ++next) look_at(name(next % kWaiting));
  }
  const double seconds = cpu_seconds() - begin;
  const int made = searches();
  std::printf("%d gangs of %d shapes wait on %d nodes, 20 pods end a second: %.3f of a core; ", kWaiting,
              kShapes, kNodes, seconds / kSeconds);
  std::printf("a second %.1f looks, %.1f searches; %d were placed\n", double(looks) / kSeconds,
              double(made) / kSeconds, placed);
  EXPECT_LE(looks, kWaiting * kSeconds / 60 + 4 * placed + 2 * kSeconds)
      << "each once a minute, and who could fit";
  EXPECT_LE(made, 4 * placed + 2 * kSeconds) << "pods that end cost no search each";
}

TEST_F(Crowd, APlansPartOutsideTheSearchAmongFiveThousandNodes) {
  constexpr int kNodes = 5000, kOthers = 100'000;
  add_nodes(kNodes);
  add_other_pods(kOthers, kNodes, "250m");
  RoomTable& table = caches.room();
  const auto time = [&](const char* what, const std::function<void()>& work) {
    const double begin = cpu_seconds();
    work();
    const double spent = 1000 * (cpu_seconds() - begin);
    std::printf("%-60s %7.3f ms CPU\n", what, spent);
    return spent;
  };
  time("5,000 nodes and 100,000 pods for the first time", [&] { table.snapshot(""); });
  for (int p = 0; p < 100; ++p) put_other_pod("app-" + std::to_string(p), name_of(draw(kNodes)), "300m");
  EXPECT_LE(time("after 100 changes", [&] { table.snapshot(""); }), 5);
  EXPECT_LE(time("after none", [&] { table.snapshot(""); }), 1);
  Gang gang;
  gang.servers = {{0}, {1}};
  gang.server = Resources({{"cpu", 2000}});
  time("the room of one gang, part of the search", [&] { const Room room(gang, table.snapshot("")); });
  time("what a class finds, once a class", [&] { const ClassRoom room(gang, table.snapshot("")); });

  const auto before = mallinfo2().uordblks;
  RoomTable another(caches, [] {});
  for (int n = 0; n < kNodes; ++n) another.node_changed(name_of(n));
  another.snapshot("");
  const double bytes = double(mallinfo2().uordblks - before);
  std::printf("the table of 5,000 nodes: %.1f MiB, %.0f bytes a node\n", bytes / (1 << 20), bytes / kNodes);
  EXPECT_LE(bytes / kNodes, 4096);
}

}  // namespace
}  // namespace atl::ctl
