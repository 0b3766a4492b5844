// How the operator runs: its command line's options.
#pragma once

#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/json_values.h"
#include "operator/objects/settings.h"
#include "operator/run/log.h"

namespace atl::ctl {

struct Options {
  Settings settings;                           // operator_space is also the lease's; "": our own
  std::string kubeconfig;                      // "": found as kubectl does, or the pod that we run in
  std::vector<std::string> spaces;             // namespaces whose jobs are handled; empty: all
  std::string operator_class = kDefaultClass;  // the class of jobs that are handled
  std::string identity;                        // the name of this replica: its pod's name
  bool elects = true;                          // a lease decides which replica works
  LogLevel log_level = LogLevel::kInfo;
  int workers = 16;                   // threads that write or ask the API server; each has one job
  int writes_at_once = 16;            // per job
  int polls_at_once = 16;             // jobs that are asked for progress at once, in each lane (progress.h)
  std::string metrics_host = "[::]";  // every address, IPv4 and IPv6
  int metrics_port = 8080;
  int engine_port = 9400;  // port of rank 0's /progress
  Seconds progress_every{5};
  Seconds reserve_after{300};  // how long a gang waits before room is kept for it
  int most_servers = 64;       // servers for which nodes may be asked at a time
  Seconds lease{15}, renew_within{10}, lease_retry{2};
};

}  // namespace atl::ctl
