#include "tensor/cuda/gates.h"

#include <algorithm>
#include <exception>
#include <new>

namespace atl::cuda {

GateNumbers::GateNumbers() {
  void* memory = nullptr;
  ATOLL_MUST(cudaMallocHost(&memory, kCount * sizeof *numbers));
  numbers = static_cast<std::atomic<std::uint32_t>*>(memory);
  for (std::size_t i = 0; i < kCount; ++i) new (numbers + i) std::atomic<std::uint32_t>(0);
}

std::unique_ptr<Gates> Gates::make(cudaStream_t stream) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  constexpr unsigned kVersion = 12000;  // whose call needs no switch of the driver's
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &found, kVersion, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) return nullptr;
  std::unique_ptr<Gates> gates(new Gates(reinterpret_cast<WaitValue>(found)));
  const std::unique_ptr<Gate> open = gates->make_gate();
  return gates->wait_for(stream, static_cast<const CountedGate&>(*open)) ? std::move(gates) : nullptr;
}

std::unique_ptr<Gate> Gates::make_gate() {
  if (numbers_->used == GateNumbers::kCount) return nullptr;
  return std::make_unique<CountedGate>(numbers_, numbers_->numbers[numbers_->used++]);
}

bool Gates::wait_for(cudaStream_t stream, const CountedGate& gate) {
  return wait_value_(stream, reinterpret_cast<CUdeviceptr>(gate.number()), gate.closed(),
                     CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
}

void Gates::stand_at(cudaStream_t stream, const CountedGate& gate, GateKeeper& keeper) {
  if (!wait_for(stream, gate)) fail("device cuda: cuStreamWaitValue32 has failed");
  if (std::ranges::find(keepers_, &keeper) == keepers_.end()) keepers_.push_back(&keeper);
}

/// One that has failed is asked again, and says so again: the first time it may have been told to nobody (Stream::settle).
void Gates::wait() {
  if (asks_) return;
  asks_ = true;
  std::exception_ptr failure;
  std::erase_if(keepers_, [&](GateKeeper* keeper) {
    try {
      keeper->wait_for_gates();
      return true;
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  });
  asks_ = false;
  if (failure) std::rethrow_exception(failure);
}

}  // namespace atl::cuda
