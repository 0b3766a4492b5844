#include "base/threads.h"

#include <sched.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/memory.h"

namespace atl {

int available_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int cores = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask)
                                                            : int(std::thread::hardware_concurrency());
  if (const double quota = quota_cores(); quota > 0) cores = std::min(cores, int(std::ceil(quota)));
  return std::max(cores, 1);
}

/// Workers wait for `round` to change. `next` hands out chunks; `busy` counts workers that have not yet left
/// the round, so that run() returns only when nobody can touch its arguments any more.
struct ThreadPool::State {
  std::vector<std::thread> workers;
  int dry_threads = 0;  // of a dry pool
  std::atomic<std::uint32_t> round{0};
  std::atomic<int> busy{0};
  std::atomic<bool> stop{false};
  std::atomic<Index> next{0};
  Index chunks = 0;
  const FunctionRef<void(Index, int)>* work = nullptr;
  std::mutex failure_lock;
  std::exception_ptr failure;

  void work_off(int thread) {
    try {
      for (Index chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks;)
        (*work)(chunk, thread);
    } catch (...) {
      std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next.store(chunks, std::memory_order_relaxed);
    }
  }

  void loop(int thread) {
    for (std::uint32_t seen = 0;;) {
      wait_until_changed(round, seen);
      seen = round.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire)) return;
      work_off(thread);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }

  void end_workers() {
    stop.store(true, std::memory_order_release);
    round.fetch_add(1, std::memory_order_acq_rel);
    round.notify_all();
    for (auto& worker : workers) worker.join();
  }

  /// Spins for a few microseconds, about the gap between two kernels, then sleeps in the kernel.
  template <class T>
  static void wait_until_changed(std::atomic<T>& value, T old) {
    for (int i = 0; i < 4000; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      __builtin_ia32_pause();
    }
    while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  ATOLL_CHECK(threads >= 1, "threads {}", threads);
  try {
    for (int t = 1; t < threads; ++t) state_->workers.emplace_back([this, t] { state_->loop(t); });
  } catch (const std::system_error& refused) {
    state_->end_workers();
    fail("thread {} of {} can't be started: {}: use fewer --threads, or raise `ulimit -u`",
         state_->workers.size() + 2, threads, refused.code().message());
  }
}

std::unique_ptr<ThreadPool> ThreadPool::dry(int threads) {
  auto pool = std::make_unique<ThreadPool>(1);
  pool->state_->dry_threads = threads;
  return pool;
}

ThreadPool::~ThreadPool() {
  state_->end_workers();
}

int ThreadPool::threads() const {
  return state_->dry_threads > 0 ? state_->dry_threads : int(state_->workers.size()) + 1;
}

void ThreadPool::run(Index chunks, FunctionRef<void(Index, int)> work) {
  State& s = *state_;
  if (s.dry_threads > 0) return;
  if (s.workers.empty() || chunks <= 1) {
    for (Index chunk = 0; chunk < chunks; ++chunk) work(chunk, 0);
    return;
  }
  s.chunks = chunks;
  s.work = &work;
  s.failure = nullptr;
  s.next.store(0, std::memory_order_relaxed);
  s.busy.store(int(s.workers.size()), std::memory_order_relaxed);
  s.round.fetch_add(1, std::memory_order_acq_rel);
  s.round.notify_all();
  s.work_off(0);
  for (int left; (left = s.busy.load(std::memory_order_acquire)) != 0;)
    State::wait_until_changed(s.busy, left);
  if (s.failure) std::rethrow_exception(s.failure);
}

}  // namespace atl
