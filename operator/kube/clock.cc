#include "operator/kube/clock.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace atl::kube {
namespace {

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

}  // namespace

Clock& steady_clock() {
  static SteadyClock clock;
  return clock;
}

Milliseconds doubled(Milliseconds first, int tries, Milliseconds cap) {
  const int most = 40;  // beyond which the shift would overflow
  return std::min(first * (std::int64_t(1) << std::min(tries, most)), cap);
}

Milliseconds Backoff::next() {
  const Milliseconds wait = doubled(rule_.first, tries_++, rule_.cap);
  const double more = std::uniform_real_distribution(0.0, rule_.jitter)(random_);
  return wait + std::chrono::duration_cast<Milliseconds>(wait * more);
}

}  // namespace atl::kube
