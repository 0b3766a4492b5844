// One job as the caches show it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/run/aftermath.h"
#include "operator/run/caches.h"
#include "operator/run/planner.h"

namespace atl::ctl {

// Reading from the API server itself what a write has shown the caches to be behind with: they will catch up, but what is
// decided until then would be refused again.

struct Reread {
  Outdated object;
  std::optional<std::string> text;  // nothing: it is gone
};

/// Nothing where the server doesn't say.
std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated);

/// Puts it in the place of what the caches have. False where it is the job itself, and gone.
bool put_in(Observed& seen, const Reread& reread);

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
