// The operator as a whole: connections, caches, lease, controller, health and metrics, from its start to its
// orderly end.
#pragma once

#include <functional>
#include <stop_token>

#include "operator/run/options.h"

namespace atl::ctl {

/// Runs until `stop`, for as many terms as this replica gets to lead (term.h). `end_process` ends the process
/// at once; it is called if work of a lost term doesn't end in time. Throws Error if the cluster's
/// configuration or the metrics address can't be used, or if another installation handles the same jobs.
void run_operator(const Options& options, const std::stop_token& stop,
                  const std::function<void()>& end_process);

}  // namespace atl::ctl
