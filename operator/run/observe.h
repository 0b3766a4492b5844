// One job as the caches show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/run/aftermath.h"
#include "operator/run/caches.h"
#include "operator/run/planner.h"
#include "operator/run/read_again.h"

namespace atl::ctl {

/// What stands beside the caches.
struct Circumstances {
  Aftermath aftermath;
  std::vector<Reread> reread;
  std::optional<Heard> heard;
  std::optional<Rank> silent_rank;
  Moment now{};
};

/// Nothing where there is no such job. `turn` and `caches` must outlive what is returned.
std::optional<Observed> observe(const std::string& job, const Caches& caches, Planner::Turn& turn,
                                Circumstances circumstances);

}  // namespace atl::ctl
