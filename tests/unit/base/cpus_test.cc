#include "base/cpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <set>
#include <thread>

#include "base/threads.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using Ids = std::vector<int>;

/// Packages of so many processors each, a core each, numbered on.
std::vector<Cpu> machine(const std::vector<int>& packages) {
  std::vector<Cpu> cpus;
  for (std::size_t p = 0; p < packages.size(); ++p)
    for (int core = 0; core < packages[p]; ++core) cpus.push_back({int(cpus.size()), int(p), core});
  return cpus;
}

Ids share_of(const std::vector<Cpu>& cpus, int index, int processes, int threads) {
  return own_cpus(cpus, 0, {index, processes, threads});
}

TEST(OwnCpus, EachProcessHasItsOwn) {
  const auto cpus = machine({4, 4});
  std::set<int> taken;
  for (int index = 0; index < 4; ++index)
    for (const int cpu : share_of(cpus, index, 4, 2)) taken.insert(cpu);
  EXPECT_EQ(taken.size(), 8U);
  EXPECT_EQ(share_of(cpus, 1, 2, 4), (Ids{4, 5, 6, 7}));
}

TEST(OwnCpus, AreOfOnePackageWhereThatCanBe) {
  const auto cpus = machine({2, 4, 2});
  EXPECT_EQ(share_of(cpus, 0, 2, 4), (Ids{2, 3, 4, 5}));
  EXPECT_EQ(share_of(cpus, 1, 2, 4), (Ids{0, 1, 6, 7}));
}

TEST(OwnCpus, ThereAreNoneWhereOthersMayRunOrSomeStayFree) {
  EXPECT_EQ(share_of(machine({8}), 0, 2, 2), Ids{});  // half of them are somebody else's
  EXPECT_EQ(share_of(machine({2}), 0, 4, 1), Ids{});  // two ranks on each
  EXPECT_EQ(share_of({}, 0, 1, 1), Ids{});            // the kernel doesn't tell
}

TEST(OwnCpus, ThereAreNoneWhereAQuotaStopsSomeOfThem) {
  const auto cpus = machine({4});
  EXPECT_EQ(own_cpus(cpus, 3.5, {0, 2, 2}), Ids{});
  EXPECT_EQ(own_cpus(cpus, 4, {0, 2, 2}), (Ids{0, 1}));
}

TEST(AllowedCpus, ComeByPackageAndCore) {
  const auto here = allowed_cpus();
  ASSERT_FALSE(here.empty());
  // A machine on which the first processor of this one is the last core of another package.
  TemporaryFolder folder;
  const auto topology = folder / fmt::format("sys/devices/system/cpu/cpu{}/topology", here.front().id);
  std::filesystem::create_directories(topology);
  std::ofstream(topology / "physical_package_id") << "1\n";
  std::ofstream(topology / "core_id") << "7\n";
  EXPECT_EQ(allowed_cpus(folder / "").back(), (Cpu{here.front().id, 1, 7}));
  EXPECT_EQ(allowed_cpus(folder / "").size(), here.size());
}

TEST(CpuList, NamesRangesByTheirEnds) {
  EXPECT_EQ(cpu_list({8, 0, 1, 2, 10, 11}), "0-2,8,10-11");
  EXPECT_EQ(cpu_list({}), "");
}

Ids mask_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  Ids ids;
  for (int id = 0; id < CPU_SETSIZE; ++id)
    if (CPU_ISSET(std::size_t(id), &mask)) ids.push_back(id);
  return ids;
}

TEST(BindThreads, EachOfAPoolStaysOnItsOwn) {
  const auto cpus = allowed_cpus();
  const Ids chosen{cpus.back().id, cpus.front().id, cpus.back().id};
  std::vector<Ids> masks(3);
  std::thread([&] {  // of its own, so that the other tests' thread stays free
    ThreadPool pool(3);
    bind_threads(pool, chosen);
    std::latch all(3);
    pool.run(3, [&](Index, int thread) {
      masks[std::size_t(thread)] = mask_of_this_thread();
      all.arrive_and_wait();
    });
  })
      .join();
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(masks[t], Ids{chosen[t]}) << "thread " << t;
}

TEST(KeepProcessOn, MovesThreadsThatRunAlready) {
  const Ids before = mask_of_this_thread(), one{before.back()};
  std::atomic<int> step{0};
  Ids seen;
  std::thread other([&] {
    step = 1;
    step.notify_one();
    step.wait(1);
    seen = mask_of_this_thread();
  });
  step.wait(0);
  keep_process_on(one);
  const Ids own = mask_of_this_thread();
  step = 2;
  step.notify_one();
  other.join();
  keep_process_on(before);
  EXPECT_EQ(own, one);
  EXPECT_EQ(seen, one);
}

}  // namespace
}  // namespace atl
