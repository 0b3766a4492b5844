// The operator as a whole: connections, caches, lease, controller, health and metrics, from its start to its
// orderly end.
#pragma once

#include <functional>
#include <stop_token>

#include "operator/run/options.h"

namespace atl::ctl {

/// Runs until `stop`, through as many terms as it is given the lead for (term.h). `end_process` ends the
/// process at once: called where a call of a lost term doesn't end in time. Throws Error where the cluster's
/// configuration or the metrics address can't be used, or another installation handles the same jobs.
void run_operator(const Options& options, const std::stop_token& stop,
                  const std::function<void()>& end_process);

}  // namespace atl::ctl
