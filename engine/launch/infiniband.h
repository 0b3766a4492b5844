// Whether ranks of this pod can use the node's InfiniBand or RoCE. Where NCCL may open none, it uses TCP
// without a word, and the job is several times slower than its cluster allows.
#pragma once

#include <filesystem>
#include <string>

namespace atl {

/// One line for the pod's log; "" where the node has no such device. `devices` lists those of the node, which
/// every pod sees (/sys/class/infiniband); `opened` those that the pod was given (/dev/infiniband).
std::string infiniband_text(const std::filesystem::path& devices, const std::filesystem::path& opened);

}  // namespace atl
