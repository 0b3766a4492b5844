#include "command/machine_rates.h"

#include <algorithm>

#include "base/threads.h"
#include "tensor/context.h"

namespace atl {

MachineRates measured_rates(int ranks, int threads) {
  ThreadPool pool(std::min(available_cores(), ranks * threads));
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  const MachineRates all = measure_rates(ctx);
  return {all.triad_bytes / ranks, all.gather_bytes / ranks, all.product_flops / ranks,
          all.near_triad_bytes / ranks, all.near_gather_bytes / ranks};
}

}  // namespace atl
