// Twenty-four virtual hours: jobs arrive, ranks fail, nodes come and go, watches break, requests get lost,
// operators die and are upgraded. Nothing is lost, nothing is left, and nothing grows. Two hours, or as many
// as SOAK_HOURS says; a day is run so:
//
//   SOAK_HOURS=24 build/tests/test_operator_run --gtest_filter='Soak.*'
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "operator_run/soak_day.h"

namespace atl::ctl {
namespace {

constexpr std::uint64_t kSeed = 43;

int hours() {
  const char* wanted = std::getenv("SOAK_HOURS");
  return wanted ? std::atoi(wanted) : 2;
}

/// The value of a metric without labels.
double value_of(const std::string& metrics, const std::string& name) {
  const auto at = metrics.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::stod(metrics.substr(at + name.size() + 2));
}

void print(const SoakFigures& all, double virtual_hours, double decisions) {
  constexpr double kMiB = 1 << 20;
  std::printf("%.1f virtual hours: %d jobs (%d succeeded, %d failed, %d deleted), %d attempts, ",
              virtual_hours, all.jobs, all.succeeded, all.failed, all.deleted, all.attempts);
  std::printf("%.0f decisions, %d statuses, %zu writes, %d refused, %d lost, ", decisions, all.statuses,
              all.writes, all.refusals, all.losses);
  std::printf("%d relists, %d operators, %d nodes replaced; ", all.lists, all.operators, all.nodes_replaced);
  std::printf("at most %zu jobs, %zu pods and %.1f MiB, in the end %.1f MiB; %.0f s CPU\n", all.most_jobs,
              all.most_pods, double(all.most_bytes) / kMiB, double(all.bytes) / kMiB,
              double(std::clock()) / CLOCKS_PER_SEC);
}

/// Bytes at the end of each part, when all jobs are gone. The first part makes what is made once.
void expect_flat(const std::vector<std::size_t>& bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // sanitizers have an allocator of their own, which doesn't count
#endif
  for (const std::size_t later : bytes)
    EXPECT_LT(double(later), 1.03 * double(bytes.front()) + (256 << 10)) << "after " << bytes.front();
}

/// Each check of the oracle names the line that it is for: put that fault back, and it fails here. What grows
/// is seen by expect_flat: for example without `leave_if_empty(…)` in ThinPods::erase.
TEST(Soak, LosesNothingLeavesNothingAndGrowsInNothing) {
  const int parts = hours() >= 4 ? 4 : 2;
  SoakWorld world(kSeed);
  SoakOracle oracle(world);
  SoakDay day(world, oracle);
  const Moment begin = world.cluster.now;
  std::vector<std::size_t> bytes;
  for (int part = 0; part < parts && !HasFailure(); ++part) {
    day.live(Seconds(3600) * hours() / parts);
    day.drain();
    bytes.push_back(world.figures.bytes);
  }
  print(world.figures, double((world.cluster.now - begin).count()) / 3600,
        value_of(world.controller->metrics_text(), "atoll_job_decision_seconds_count"));
  expect_flat(bytes);
  EXPECT_GE(world.figures.jobs, 40 * hours());
  EXPECT_GE(world.figures.succeeded, 20 * hours());
  EXPECT_GT(world.figures.lists, 0);
  EXPECT_GT(world.figures.operators, 2);
}

}  // namespace
}  // namespace atl::ctl
