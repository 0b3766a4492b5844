// What streams stand at until a thread of the host opens it: a number in pinned memory, which the GPU compares with one that it was told
// (cuStreamWaitValue32). The host goes on meanwhile.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/cuda/status.h"
#include "tensor/device_stream.h"

namespace atl::cuda {

/// Pinned, and there as long as any gate is that has a number of it.
struct GateNumbers {
  static constexpr std::size_t kCount = 1024;
  GateNumbers();
  ~GateNumbers() { cudaFreeHost(numbers); }
  GateNumbers(const GateNumbers&) = delete;
  GateNumbers& operator=(const GateNumbers&) = delete;

  std::atomic<std::uint32_t>* numbers = nullptr;  // (kCount) how often each gate has been opened
  std::size_t used = 0;
};

/// How often it was closed is counted, and what it shows when it is opened is that number: it grows, so that whoever came to an earlier
/// closing passes, too.
class CountedGate final : public Gate {
 public:
  CountedGate(std::shared_ptr<GateNumbers> numbers, std::atomic<std::uint32_t>& number)
      : numbers_(std::move(numbers)), number_(number) {}
  void close() override { ++closed_; }
  void open() override { number_.store(closed_, std::memory_order_release); }

  const void* number() const { return &number_; }
  std::uint32_t closed() const { return closed_; }

 private:
  std::shared_ptr<GateNumbers> numbers_;
  std::atomic<std::uint32_t>& number_;
  std::uint32_t closed_ = 0;
};

/// Of one stream, and of the thread that gives it work.
class Gates {
 public:
  /// Null where the driver or the GPU can't.
  static std::unique_ptr<Gates> make(cudaStream_t stream);

  /// Null where all numbers are in use.
  std::unique_ptr<Gate> make_gate();
  void stand_at(cudaStream_t stream, const CountedGate& gate, GateKeeper& keeper);
  void leave(GateKeeper& keeper) { std::erase(keepers_, &keeper); }
  /// Returns when all are open that the stream was told of. Throws what a keeper throws. A keeper that waits for the stream doesn't come
  /// back here.
  void wait();

 private:
  using WaitValue = decltype(&cuStreamWaitValue32);
  explicit Gates(WaitValue wait_value) : wait_value_(wait_value) {}
  bool wait_for(cudaStream_t stream, const CountedGate& gate);

  WaitValue wait_value_;
  std::shared_ptr<GateNumbers> numbers_ = std::make_shared<GateNumbers>();
  std::vector<GateKeeper*> keepers_;  // whom to ask, each once: few
  bool asks_ = false;
};

}  // namespace atl::cuda
