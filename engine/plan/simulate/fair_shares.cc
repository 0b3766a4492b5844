#include "plan/simulate/fair_shares.h"

#include <algorithm>
#include <limits>

namespace atl {

/// All flows grow at one pace; whatever resource is used up first stops those that use it, and the others go on.
void FairShares::share(std::span<const std::span<const Use>> flows, std::vector<double>& rates) {
  rates.assign(flows.size(), std::numeric_limits<double>::infinity());
  loads_.assign(capacities_.size(), {});
  used_.clear(), growing_.clear();
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (!flows[f].empty()) growing_.push_back(f);
    for (const Use& use : flows[f]) {
      Load& load = loads_[std::size_t(use.resource)];
      if (load.flows++ == 0) used_.push_back(use.resource), load.left = capacity(use.resource);
      load.per_pace += use.per_unit;
    }
  }
  while (!growing_.empty()) {
    double pace = std::numeric_limits<double>::infinity();
    for (const int resource : used_)
      if (const Load& load = loads_[std::size_t(resource)]; load.flows > 0)
        pace = std::min(pace, std::max(0.0, load.left) / load.per_pace);
    // Who stops is settled before what that leaves: one that stops must not stop others at this pace.
    const auto stays = std::partition(growing_.begin(), growing_.end(), [&](std::size_t f) {
      return std::ranges::any_of(flows[f], [&](const Use& use) {
        const Load& load = loads_[std::size_t(use.resource)];
        return load.left <= pace * load.per_pace * (1 + 1e-12);
      });
    });
    for (auto f = growing_.begin(); f != stays; ++f) {
      rates[*f] = pace;
      for (const Use& use : flows[*f]) {
        Load& load = loads_[std::size_t(use.resource)];
        load.left -= pace * use.per_unit, load.per_pace -= use.per_unit;
        --load.flows;
      }
    }
    growing_.erase(growing_.begin(), stays);
  }
}

}  // namespace atl
