#include "operator/api/gpu_blame.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace atl::ctl {
namespace {

/// Words of CUDA, of the engine about CUDA, of the driver, and of the runtime that hands GPUs to a container,
/// where the node is to blame and not the rank that met the error. The first that are found count.
struct GpuWords {
  const char *words, *reason;
};
constexpr GpuWords kGpuWords[] = {
    {"uncorrectable ECC error", kGpuFault},
    {"uncorrectable NVLink error", kGpuFault},
    {"over nvlink or a hardware error", kGpuFault},
    {"hardware stack error", kGpuFault},
    {"is/are busy or unavailable", kGpuFault},  // an earlier process hangs on it
    {"system not yet initialized", kGpuFault},  // the fabric manager of its switches doesn't run
    {"unsupported display driver / cuda driver combination", kGpuDriver},
    {"the NVIDIA driver of this machine is missing or older", kGpuDriver},
    {"this machine has no NVIDIA GPU", kGpuDriver},
    {"GPU has fallen off the bus", kGpuFault},
    {"GPU is lost", kGpuFault},
    {"requirement error: unsatisfied condition", kGpuDriver},  // the image needs a newer driver
    {"nvidia-container-cli: device error", kGpuFault},
    {"nvidia-container-cli", kGpuDriver},  // a mount or ldcache error may be the image's, on any node
    {"unresolvable CDI devices", kGpuFault},
};

/// The driver's Xids that no program can cause: of memory (48, 64, 94, 95, 140), NVLink (74), the bus (79),
/// and the GPU's own processors (62, 119, 120).
constexpr int kXids[] = {48, 62, 64, 74, 79, 94, 95, 119, 120, 140};

/// The words' reason, and where they begin.
std::optional<std::pair<const char*, std::size_t>> find_words(const std::string& message) {
  for (const GpuWords& each : kGpuWords)
    if (const auto at = message.find(each.words); at != std::string::npos) return std::pair(each.reason, at);
  for (auto at = message.find("Xid ("); at != std::string::npos; at = message.find("Xid (", at + 1)) {
    int xid = 0;  // of "NVRM: Xid (PCI:0000:3b:00): 79, …"
    const bool is_read = std::sscanf(message.c_str() + at, "Xid (%*[^)]): %d", &xid) == 1;
    if (is_read && std::ranges::count(kXids, xid) > 0) return std::pair(kGpuFault, at);
  }
  return {};
}

/// From "atoll: rank 3 on cora-1-0: device cuda: …", where `before` ends at the words.
std::optional<std::int64_t> last_rank_of_line(const std::string& before) {
  const auto line = before.rfind('\n'), at = before.rfind("rank ");
  const bool is_in_line = at != std::string::npos && (line == std::string::npos || at > line);
  int rank = 0;
  const bool is_named = is_in_line && std::sscanf(before.c_str() + at, "rank %d", &rank) == 1;
  return is_named ? std::optional<std::int64_t>(rank) : std::nullopt;
}

}  // namespace

std::optional<GpuBlame> gpu_blame(const std::string& message) {
  const auto found = find_words(message);
  if (!found) return {};
  return GpuBlame{found->first, last_rank_of_line(message.substr(0, found->second))};
}

}  // namespace atl::ctl
