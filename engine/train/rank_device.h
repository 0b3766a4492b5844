// The device that a rank trains on: a GPU, where the build, the machine and the user's choice allow one, or
// the CPU.
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

/// How a GPU is given a rank's work; without effect on a CPU.
struct GpuOptions {
  bool graphs = true;     // steps and evaluations are replayed as CUDA graphs
  bool cusparse = false;  // cuSPARSE sums over neighbours, where it can
};
/// From --cuda-graphs (on or off) and --sums (atoll or cusparse). Throws Error that says what is allowed.
GpuOptions gpu_options(const std::string& graphs, const std::string& sums);

struct RankDevice {
  Device device = Device::kCpu;
  OpenDevice open;          // empty on the CPU
  std::string why_not_gpu;  // with kAuto on a build for GPUs, the reason why there is none
  DeviceStream& stream() const { return open.stream ? *open.stream : host_stream(); }
};

/// For the calling thread, which is the rank's compute thread. rank_here is the rank's number on the machine,
/// from 0; ranks share its GPUs in turn. Throws Error that says what is missing where `choice` is kCuda and
/// there is no GPU.
RankDevice open_device(DeviceChoice choice, int rank_here, const GpuOptions& options = {});

// The processors that a rank's threads are bound to. They are chosen at its start among those of its server.

/// Returns one processor for each of the rank's `threads`, or none where the server's processors aren't for
/// its ranks alone (base/cpus.h). Other threads that the process has by now (MPI's, the communicator's, the
/// metrics server's) may run on any of these processors, whichever has a free moment. If such a thread were
/// bound to one processor, a message would wait until the rank pauses in computing.
std::vector<int> take_cpus(const Communicator& comm, int threads);

}  // namespace atl
