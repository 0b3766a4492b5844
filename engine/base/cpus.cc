#include "base/cpus.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <latch>
#include <tuple>

#include "base/error.h"
#include "base/threads.h"

namespace atl {
namespace {

int number_in(const std::filesystem::path& file) {
  int number = 0;
  std::ifstream(file) >> number;
  return number;
}

void keep_thread_on(pid_t thread, std::span<const int> cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(std::size_t(cpu), &mask);
  sched_setaffinity(thread, sizeof mask, &mask);  // a refusal costs only speed
}

/// Cuts `cpus` into shares of `threads` processors: first shares within one package, then shares of what is
/// left of all packages.
std::vector<int> by_share(std::span<const Cpu> cpus, int threads) {
  std::vector<int> whole, left;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin;
    while (end < cpus.size() && cpus[end].package == cpus[begin].package) ++end;
    const std::size_t straddling = end - (end - begin) % std::size_t(threads);
    for (std::size_t i = begin; i < end; ++i) (i < straddling ? whole : left).push_back(cpus[i].id);
    begin = end;
  }
  whole.insert(whole.end(), left.begin(), left.end());
  return whole;
}

}  // namespace

std::vector<Cpu> allowed_cpus(const std::filesystem::path& root) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  std::vector<Cpu> cpus;
  for (int id = 0; id < CPU_SETSIZE; ++id) {
    if (!CPU_ISSET(std::size_t(id), &mask)) continue;
    const auto topology = root / fmt::format("sys/devices/system/cpu/cpu{}/topology", id);
    cpus.push_back({id, number_in(topology / "physical_package_id"), number_in(topology / "core_id")});
  }
  std::ranges::sort(cpus, {}, [](const Cpu& c) { return std::tuple(c.package, c.core, c.id); });
  return cpus;
}

std::vector<int> own_cpus(std::span<const Cpu> cpus, double quota, const ServerShare& share) {
  const int all = share.processes * share.threads;
  if (int(cpus.size()) != all || (quota > 0 && quota < all)) return {};
  const std::vector<int> ordered = by_share(cpus, share.threads);
  const auto begin = ordered.begin() + share.index * share.threads;
  return {begin, begin + share.threads};
}

std::string cpu_list(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (i > 0) text += ',';
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

void keep_process_on(std::span<const int> cpus) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    keep_thread_on(pid_t(std::stol(thread.path().filename())), cpus);
}

namespace {

/// Runs `work` once on each thread: none takes a second chunk, because each waits until all have one.
void on_each_thread(ThreadPool& pool, FunctionRef<void(int thread)> work) {
  std::latch all(pool.threads());
  pool.run(pool.threads(), [&](Index, int thread) {
    work(thread);
    all.arrive_and_wait();
  });
}

}  // namespace

void keep_threads_on(ThreadPool& pool, std::span<const int> cpus) {
  on_each_thread(pool, [&](int) { keep_thread_on(0, cpus); });
}

void bind_threads(ThreadPool& pool, std::span<const int> cpus) {
  ATOLL_CHECK(int(cpus.size()) == pool.threads(), "{} processors for {} threads", cpus.size(),
              pool.threads());
  on_each_thread(pool, [&](int thread) { keep_thread_on(0, cpus.subspan(std::size_t(thread), 1)); });
}

}  // namespace atl
