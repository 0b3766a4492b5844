// The trace of a run as a file that chrome://tracing and Perfetto show: a process for each rank, a thread for
// its computation and each of its lanes, a span for each layer's work, wait or transfer.
#pragma once

#include <filesystem>
#include <vector>

#include "comm/clock_offset.h"
#include "comm/trace.h"

namespace atl {

/// Gathers every rank's spans since `first_epoch` on rank 0, which writes them on its own clock. Collective;
/// nothing but what this does is under way.
void write_trace(Communicator& comm, const Trace& trace, const std::vector<ClockOffset>& clocks,
                 std::int64_t first_epoch, const std::filesystem::path& path);

}  // namespace atl
