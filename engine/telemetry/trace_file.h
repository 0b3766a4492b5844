// The trace of a run as a file that chrome://tracing and Perfetto show. Each rank is a process, its
// computation and each of its lanes are threads, and each layer's work, wait or transfer is a span.
#pragma once

#include <filesystem>
#include <vector>

#include "comm/trace.h"

namespace atl {

/// Gathers every rank's spans since `first_epoch` on rank 0, which writes them on its own clock. Collective;
/// no other message may be under way.
void write_trace(Communicator& comm, const Trace& trace, const std::vector<ClockOffset>& clocks,
                 std::int64_t first_epoch, const std::filesystem::path& path);

}  // namespace atl
