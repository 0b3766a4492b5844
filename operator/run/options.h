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
  Settings settings;       // of the objects that it makes; operator_space: of its lease, too; "": our own
  std::string kubeconfig;  // "": found as kubectl does, or the pod that we run in
  std::vector<std::string> spaces;             // namespaces whose jobs are handled; empty: all
  std::string operator_class = kDefaultClass;  // of the jobs that are handled
  std::string identity;                        // ours among the replicas: the pod's name
  bool elects = true;                          // a lease decides which replica works
  LogLevel log_level = LogLevel::kInfo;
  int workers = 16;                   // jobs that are written, or asked about, at the same time
  int writes_at_once = 16;            // per job
  int polls_at_once = 16;             // jobs that are asked how far they are, in each lane (progress.h)
  std::string metrics_host = "[::]";  // every address, IPv4 and IPv6
  int metrics_port = 8080;
  int engine_port = 9400;  // port of rank 0's /progress
  Seconds progress_every{5};
  Seconds reserve_after{300};  // of waiting, before room is kept for a gang
  int most_servers = 64;       // for which nodes are asked at a time
  Seconds lease{15}, renew_within{10}, lease_retry{2};
};

}  // namespace atl::ctl
