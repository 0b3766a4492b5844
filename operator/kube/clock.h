// Time for code that waits or expires. Tests bring their own clocks.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <stop_token>

namespace atl::kube {

using Milliseconds = std::chrono::milliseconds;

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  /// The time now. It never goes back.
  virtual Time now() = 0;
  /// Waits; returns false if `stop` came first.
  virtual bool sleep(Milliseconds time, const std::stop_token& stop) = 0;
};

class SteadyClock final : public Clock {
 public:
  Time now() override { return std::chrono::steady_clock::now(); }
  bool sleep(Milliseconds time, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  }
};

/// The machine's clock. Thread-safe.
inline Clock& steady_clock() {
  static SteadyClock clock;
  return clock;
}

// How long to wait before a retry. Waits grow with each try, and are random, so that many waiters don't retry
// at once.

/// first × 2^tries, but at most the cap.
inline Milliseconds doubled(Milliseconds first, int tries, Milliseconds cap) {
  const int most = 40;  // a larger shift would overflow
  return std::min(first * (std::int64_t(1) << std::min(tries, most)), cap);
}

struct BackoffRule {
  Milliseconds first, cap;
  double jitter = 0.2;  // a wait grows at random by up to this share
};

class Backoff {
 public:
  explicit Backoff(BackoffRule rule, std::uint32_t seed = std::random_device{}())
      : rule_(rule), random_(seed) {}

  /// The first wait, then twice as long each time up to the cap, plus the jitter.
  Milliseconds next() {
    const Milliseconds wait = doubled(rule_.first, tries_++, rule_.cap);
    const double more = std::uniform_real_distribution(0.0, rule_.jitter)(random_);
    return wait + std::chrono::duration_cast<Milliseconds>(wait * more);
  }
  void reset() { tries_ = 0; }

 private:
  BackoffRule rule_;
  std::minstd_rand random_;
  int tries_ = 0;
};

}  // namespace atl::kube
