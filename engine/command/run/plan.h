// Settles everything that `atoll run` needs before the first rank starts: manifest, data set, prepared graph,
// output folder, threads. What can be refused is refused here, once, before the run leaves anything behind.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/command_line.h"
#include "command/run/output_folder.h"
#include "job/job.h"
#include "launch/mpirun_command.h"
#include "telemetry/record.h"

namespace atl {

struct RunPlan {
  Job job;
  std::filesystem::path dataset{},
      output{};                         // folders; `output` exists and holds job.yaml, the manifest as run
  int threads = 1;                      // threads of each rank
  RemoteHosts hosts{};                  // where the ranks run; empty: on this machine
  std::vector<int> parts{};             // (ranks) the part that each trains
  int attempt = 0;                      // number of this start (train/checkpoint/checkpoint.h)
  std::unique_ptr<OutputLock> lock{};   // lock of the output folder, until the run is over
  std::optional<RunRecord> finished{};  // a run that has nothing left to train: the plan ends with it
};

/// Makes the plan of a run. `say` is told what takes time, and what was found and mended. Throws Error for
/// everything that a user can mend.
RunPlan plan_run(const Arguments& arguments, void (*say)(const std::string& line));

// Finds the server of each rank of `atoll run`, if ranks don't run on this machine. --hosts or ATOLL_HOSTS
// names servers that see the same files; --shell or ATOLL_SHELL names the command that reaches them.

/// The hosts of the ranks. No addresses without --hosts, or if it names only this machine (localhost, 127.…,
/// its own name). Consecutive ranks share a server: as many as placement.ranksPerServer says, or equal shares
/// over all servers. Throws Error where the ranks don't fit on the servers, and for options that need this
/// machine.
RemoteHosts run_hosts(const Arguments& arguments, const Job& job);

}  // namespace atl
