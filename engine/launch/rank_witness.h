// Whoever outlives a rank says how it ended. mpirun tells of the first rank alone that ends badly, and that may be one whose
// connection to a killed rank broke: Open MPI ends it at once, and its daemon's word may be there first.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/types.h"

namespace atl {

/// Divides this process. The call returns in a child, which is the rank; the parent stays: it hands on what asks the rank to
/// end, ends as it does, and says on standard error (rank_words.h) that it has ended well, or that a signal has ended it that nobody
/// sent through the parent. Neither outlives the other. Returns who has started the rank, on one machine the same process for all
/// ranks of a job. Call before there are threads; throws Error where no process can be started.
pid_t leave_witness(Rank rank, const std::string& host);

}  // namespace atl
