// Which server each rank of `atoll run` goes to where it isn't this machine: --hosts or ATOLL_HOSTS name servers that see
// the same files, --shell or ATOLL_SHELL the command that reaches them.
#pragma once

#include "command/command_line.h"
#include "job/job.h"
#include "launch/mpirun_command.h"

namespace atl {

/// No addresses without --hosts, or where it names this machine alone (localhost, 127.…, its own name). Consecutive ranks share a server: as many as placement.ranksPerServer says, or equal
/// shares of all servers. Throws Error where they don't fit on the servers, and for options that need this machine.
RemoteHosts run_hosts(const Arguments& arguments, const Job& job);

}  // namespace atl
