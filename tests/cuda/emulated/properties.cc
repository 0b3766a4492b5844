// Properties of the emulated GPUs: their number, their kind, their free memory.
#include <atomic>

#include "emulated.h"

namespace emulated {
namespace {

std::atomic<cudaError_t> count_status{cudaSuccess};
std::atomic<int> count_of_gpus{1};

}  // namespace

void set_gpus(int count) {
  count_of_gpus = count;
}
int gpus() {
  return count_of_gpus;
}
void answer_count_with(cudaError_t status) {
  count_status = status;
}

}  // namespace emulated

cudaError_t cudaGetDeviceCount(int* count) {
  *count = emulated::count_status == cudaSuccess ? emulated::gpus() : 0;
  return emulated::count_status;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {"emulated GPU", {}, 9, 0, emulated::kMemory, 8 << 10};
  properties->uuid.bytes[0] = char(1 + device);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = 0, *total = emulated::kMemory;
  return cudaSuccess;
}
