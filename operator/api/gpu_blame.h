// Errors of a rank's GPU for which its node is to blame, told from their words: those of CUDA, of the engine,
// of NVIDIA's driver, and of the runtime that hands GPUs to a container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace atl::ctl {

/// The node's GPU is at fault, or its driver doesn't suit the engine.
inline constexpr const char *kGpuFault = "GpuFault", *kGpuDriver = "GpuDriver";
inline bool is_of_gpu(const std::string& reason) {
  return reason == kGpuFault || reason == kGpuDriver;
}

struct GpuBlame {
  const char* reason;                // one of the two
  std::optional<std::int64_t> rank;  // that the error's line names before these words, if any
};

/// What a rank's error says of its GPU; nothing where that isn't to blame.
std::optional<GpuBlame> gpu_blame(const std::string& message);

}  // namespace atl::ctl
