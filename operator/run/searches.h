// What costs a planner its time: looking for places in a whole cluster.
#pragma once

#include <functional>
#include <optional>

#include "operator/plan/reservation.h"

namespace atl::ctl {

/// Tests count them, or have something happen meanwhile.
struct Searches {
  std::function<GangPlan(const Gang&, const Snapshot&)> plan = plan_gang;
  std::function<std::optional<Reservation>(const Gang&, const Snapshot&)> reserve = ctl::reserve;
};

}  // namespace atl::ctl
