// A clock that moves when told to; a sleep that isn't stopped moves it on.
#pragma once

#include <mutex>
#include <vector>

#include "operator/kube/clock.h"

namespace atl::kube {

class FakeClock final : public Clock {
 public:
  Time now() override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  bool sleep(Milliseconds time, const std::stop_token& stop) override {
    if (stop.stop_requested()) return false;
    std::lock_guard lock(mutex_);
    now_ += time;
    sleeps_.push_back(time);
    return true;
  }
  void advance(Milliseconds time) {
    std::lock_guard lock(mutex_);
    now_ += time;
  }
  std::vector<Milliseconds> sleeps() const {
    std::lock_guard lock(mutex_);
    return sleeps_;
  }

 private:
  mutable std::mutex mutex_;
  Time now_{};
  std::vector<Milliseconds> sleeps_;
};

}  // namespace atl::kube
