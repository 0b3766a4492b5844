// Time, as whatever waits or expires sees it: tests bring their own.
#pragma once

#include <chrono>
#include <stop_token>

namespace atl::kube {

using Milliseconds = std::chrono::milliseconds;

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  /// Never goes back.
  virtual Time now() = 0;
  /// Waits; false where `stop` came first.
  virtual bool sleep(Milliseconds time, const std::stop_token& stop) = 0;
};

/// The machine's. Thread-safe.
Clock& steady_clock();

}  // namespace atl::kube
