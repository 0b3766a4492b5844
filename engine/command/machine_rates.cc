#include "command/machine_rates.h"

#include <algorithm>

#include "base/threads.h"
#include "tensor/context.h"

namespace atl {

MachineRates measured_rates(int ranks, int threads) {
  ThreadPool pool(std::min(available_cores(), ranks * threads));
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  MachineRates rates = measure_rates(ctx);
  measure_kernels(ctx, rates);
  rates.call_seconds = kCallSeconds;
  for (double* rate : {&rates.triad_bytes, &rates.gather_bytes, &rates.product_flops, &rates.kernel_flops,
                       &rates.half_flops})
    *rate /= ranks;
  for (KernelBytes* bytes : {&rates.caches[0], &rates.caches[1], &rates.memory})
    bytes->streamed /= ranks, bytes->gathered /= ranks;
  return rates;
}

}  // namespace atl
