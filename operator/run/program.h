// The operator as a whole: connections, caches, lease, controller, health and metrics, from its start to its
// orderly end.
#pragma once

#include <stop_token>

#include "operator/run/options.h"

namespace atl::ctl {

/// Runs until `stop` (0), or until another replica leads (1): then nothing may be written any more, and the
/// caller must end the process. Throws Error where the cluster's configuration or the metrics address can't
/// be used.
int run_operator(const Options& options, const std::stop_token& stop);

}  // namespace atl::ctl
