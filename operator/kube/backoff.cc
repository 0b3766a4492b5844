#include "operator/kube/backoff.h"

#include <algorithm>

namespace atl::kube {

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
