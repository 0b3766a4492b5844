// What a GPU does at most, as limits for its kernels' times.
#pragma once

#include "tensor/context.h"
#include "tensor/rates.h"

namespace atl {

/// By matrices of so many bytes, larger than any cache, and products of so many rows and columns.
struct DeviceRateSizes {
  Index bytes = Index(256) << 20, side = 4096;
};

/// The first three of ctx's device: of a · x + b · y, three streams counted; of rows of 256 bytes that are copied in random order, read
/// and written; of large products. Throws Error where its memory doesn't hold three such matrices.
MachineRates measure_device_rates(Context& ctx, const DeviceRateSizes& sizes = {});

}  // namespace atl
