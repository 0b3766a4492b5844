// Which device a rank trains on: a GPU, where the build, the machine and whoever starts the run will have
// one, or the CPU.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"
#include "tensor/backend.h"

namespace atl {

enum class DeviceChoice {
  kAuto,  // a GPU where there is one
  kCpu,
  kCuda,
};

/// Throws Error where `text` is none of auto, cpu and cuda.
DeviceChoice device_choice(const std::string& text);

/// How a GPU is given a rank's work; on a CPU none of it matters.
struct GpuOptions {
  bool graphs = true;     // steps and evaluations are replayed as CUDA graphs
  bool cusparse = false;  // sums over neighbours are cuSPARSE's, where it takes them
};
/// Of --cuda-graphs (on or off) and --sums (atoll or cusparse). Throws Error that says what is allowed.
GpuOptions gpu_options(const std::string& graphs, const std::string& sums);

struct RankDevice {
  Device device = Device::kCpu;
  OpenDevice open;          // empty on the CPU
  std::string why_not_gpu;  // of kAuto on a build for GPUs, where none could be had
  DeviceStream& stream() const { return open.stream ? *open.stream : host_stream(); }
};

/// For the calling thread, the rank's compute thread. rank_here counts the machine's ranks from 0; they share
/// its GPUs in turn. Throws Error that says what is missing where `choice` is kCuda and no GPU can be had.
RankDevice open_device(DeviceChoice choice, int rank_here, const GpuOptions& options = {});

// The processors that a rank's threads are bound to, chosen at its start among the ranks of its server.

/// One for each of the rank's `threads`, or none where its server's processors aren't its ranks' alone
/// (base/cpus.h). What other threads the process has by now (MPI's, the communicator's, a server of metrics)
/// are kept to these; not to a single one, on which a message would wait until the rank pauses in computing:
/// they then go wherever the server has a moment.
std::vector<int> take_cpus(const Communicator& comm, int threads);

}  // namespace atl
