// Reading from the API server itself what a write has shown the caches to be behind with: they will catch up, but what is
// decided until then would be refused again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/run/aftermath.h"

namespace atl::ctl {

struct Reread {
  Outdated object;
  std::optional<std::string> text;  // nothing: it is gone
};

/// Nothing where the server doesn't say.
std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated);

/// Puts it in the place of what the caches have. False where it is the job itself, and gone.
bool put_in(Observed& seen, const Reread& reread);

}  // namespace atl::ctl
