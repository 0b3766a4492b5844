// The processors that a rank's threads are bound to, chosen at its start among the ranks of its server.
#pragma once

#include <vector>

#include "comm/communicator.h"

namespace atl {

/// One for each of the rank's `threads`, or none where its server's processors aren't its ranks' alone (base/cpus.h). What other
/// threads the process has by now (MPI's, the communicator's, a server of metrics) are kept to these; not to a single one, on
/// which a message would wait until the rank pauses in computing: they then go wherever the server has a moment.
std::vector<int> take_cpus(const Communicator& comm, int threads);

}  // namespace atl
