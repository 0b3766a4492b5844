// Who of several waiting jobs comes first: by priority, then by age, then by name.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "operator/run/caches.h"

namespace atl::ctl {

struct Precedence {
  std::int64_t less_urgent = 0;  // the priority of its pods, negated
  Moment created{};
  std::string job;

  friend bool operator<(const Precedence& a, const Precedence& b) {
    return std::tie(a.less_urgent, a.created, a.job) < std::tie(b.less_urgent, b.created, b.job);
  }
};

Precedence precedence_of(const GnnJob& job, const Caches& caches);

/// Since when a job has had no places for its gang; nothing where that isn't what it waits for.
std::optional<Moment> waits_for_places_since(const Status& status);

/// Since when it has had no room: no places, no node for its prepare pod, or none for its launcher.
std::optional<Moment> waits_for_room_since(const Status& status);

}  // namespace atl::ctl
