// Whether ranks of this pod can use the node's InfiniBand or RoCE. NCCL takes TCP without a word where it
// finds none that it may open, and a job is then several times slower than its cluster.
#pragma once

#include <filesystem>
#include <string>

namespace atl {

/// One line for the pod's log; "" where the node has no such device. `devices`: those of the node, which
/// every pod sees (/sys/class/infiniband); `opened`: those that the pod was given (/dev/infiniband).
std::string infiniband_text(const std::filesystem::path& devices, const std::filesystem::path& opened);

}  // namespace atl
