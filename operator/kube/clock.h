// Time, as code that waits or expires sees it; tests bring their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <stop_token>

namespace atl::kube {

using Milliseconds = std::chrono::milliseconds;

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  /// Never goes back.
  virtual Time now() = 0;
  /// Waits; returns false where `stop` came first.
  virtual bool sleep(Milliseconds time, const std::stop_token& stop) = 0;
};

/// The machine's clock. Thread-safe.
Clock& steady_clock();

// How long to wait before a retry: longer each time, and out of step with others that wait.

struct BackoffRule {
  Milliseconds first, cap;
  double jitter = 0.2;  // a wait grows by up to this part of itself
};

class Backoff {
 public:
  explicit Backoff(BackoffRule rule, std::uint32_t seed = std::random_device{}())
      : rule_(rule), random_(seed) {}

  /// The first wait, then twice as long each time up to the cap, plus the jitter.
  Milliseconds next();
  void reset() { tries_ = 0; }

 private:
  BackoffRule rule_;
  std::minstd_rand random_;
  int tries_ = 0;
};

/// first × 2^tries, at most the cap.
Milliseconds doubled(Milliseconds first, int tries, Milliseconds cap);

}  // namespace atl::kube
