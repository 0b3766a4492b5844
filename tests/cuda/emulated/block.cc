// Runs a grid, block by block. A block's threads meet at barriers and in exchanges of a warp as on a GPU, in
// an order drawn from a seed. Whatever a GPU would hang on, or answer arbitrarily, ends the program with a
// message.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "emulated.h"
#include "fibres.h"

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

namespace emulated {
namespace {

constexpr unsigned kWarp = 32, kMostThreads = 1024;
constexpr std::size_t kGuard = 64;  // bytes behind the shared memory, which nobody may write

[[noreturn]] void end_kernel(const char* what) {
  std::fprintf(stderr, "emulated GPU: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
  std::abort();
}

enum class Waits { kNo, kBarrier, kExchange, kEnded };

struct Thread {
  Waits waits = Waits::kNo;
  unsigned mask = 0, source = 0;
  std::size_t bytes = 0;
  std::array<std::byte, 16> value{}, other{};
};

class Block {
 public:
  static Block& of_this_thread() {
    static thread_local Block block;
    return block;
  }

  void run(unsigned count, std::size_t shared, const std::function<void()>& body) {
    threads_.assign(count, {});
    ready_.clear();
    shared_.assign(shared + kGuard, std::byte{0xff});
    at_barrier_ = 0, ended_ = 0, any_ = false;
    for (unsigned t = 0; t < count; ++t) {
      fibres_.start(t, body);
      ready_.push_back(t);
    }
    while (!ready_.empty()) {
      const std::size_t drawn = draws_.next() % ready_.size();
      std::swap(ready_[drawn], ready_.back());
      current_ = ready_.back();
      ready_.pop_back();
      threadIdx = {current_, 0, 0};
      if (!fibres_.resume(current_)) continue;
      threads_[current_].waits = Waits::kEnded;
      ++ended_;
      if (at_barrier_ > 0) end_kernel("ended while others of its block wait for it (__syncthreads)");
    }
    if (ended_ < count) tell_stuck();
    for (std::size_t i = shared; i < shared + kGuard; ++i)
      if (shared_[i] != std::byte{0xff}) end_kernel("wrote behind the block's shared memory");
  }

  void* shared() { return shared_.data(); }

  bool barrier(bool value) {
    if (ended_ > 0) end_kernel("waits for a thread of its block that has ended (__syncthreads)");
    any_ = any_ || value;
    if (++at_barrier_ < threads_.size()) {
      wait(Waits::kBarrier);
    } else {
      at_barrier_ = 0;
      result_ = any_;
      any_ = false;
      for (unsigned t = 0; t < threads_.size(); ++t)
        if (threads_[t].waits == Waits::kBarrier) release(t);
    }
    return result_;  // the next barrier's isn't known before all have read this one
  }

  void exchange(unsigned mask, unsigned source, const void* value, void* other, std::size_t bytes) {
    Thread& mine = threads_[current_];
    const unsigned first = current_ / kWarp * kWarp, lane = current_ - first;
    if ((mask >> lane & 1) == 0) end_kernel("isn't in the mask that it gives (a shuffle)");
    if (source >= kWarp || (mask >> source & 1) == 0)
      end_kernel("reads a lane outside of its mask (a shuffle)");
    mine.mask = mask, mine.source = source, mine.bytes = bytes;
    std::memcpy(mine.value.data(), value, bytes);
    bool all_here = true;
    for (unsigned l = 0; l < kWarp; ++l) {
      if ((mask >> l & 1) == 0 || l == lane) continue;
      if (first + l >= threads_.size()) end_kernel("waits for a lane that its block hasn't (a shuffle)");
      const Thread& each = threads_[first + l];
      if (each.waits == Waits::kEnded) end_kernel("waits for a lane that has ended (a shuffle)");
      if (each.waits == Waits::kExchange && (each.mask != mask || each.bytes != bytes))
        end_kernel("meets lanes of its mask in another exchange (a shuffle)");
      all_here = all_here && each.waits == Waits::kExchange;
    }
    if (!all_here) {
      wait(Waits::kExchange);
    } else {
      for (unsigned l = 0; l < kWarp; ++l)
        if ((mask >> l & 1) != 0)
          threads_[first + l].other = threads_[first + threads_[first + l].source].value;
      for (unsigned l = 0; l < kWarp; ++l)
        if ((mask >> l & 1) != 0 && l != lane) release(first + l);
    }
    std::memcpy(other, threads_[current_].other.data(), bytes);
  }

 private:
  void wait(Waits what) {
    const unsigned me = current_;
    threads_[me].waits = what;
    fibres_.pause();
    current_ = me;
  }
  void release(unsigned thread) {
    threads_[thread].waits = Waits::kNo;
    ready_.push_back(thread);
  }
  void tell_stuck() {
    for (unsigned t = 0; t < threads_.size(); ++t) {
      threadIdx = {t, 0, 0};
      if (threads_[t].waits == Waits::kBarrier) end_kernel("waits for ever at a barrier");
      if (threads_[t].waits == Waits::kExchange) end_kernel("waits for ever for lanes of its mask");
    }
  }

  Fibres fibres_{kMostThreads};
  std::vector<Thread> threads_;
  std::vector<unsigned> ready_;
  std::vector<std::byte> shared_;
  unsigned current_ = 0, at_barrier_ = 0, ended_ = 0;
  bool any_ = false, result_ = false;
  Random draws_;
};

}  // namespace

void run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& body) {
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  for (unsigned b = 0; b < gridDim.x; ++b) {
    blockIdx = {b, 0, 0};
    Block::of_this_thread().run(blockDim.x, config.dynamicSmemBytes, body);
  }
}

void* shared_memory() {
  return Block::of_this_thread().shared();
}
unsigned own_lane() {
  return threadIdx.x % kWarp;
}
bool barrier(bool value) {
  return Block::of_this_thread().barrier(value);
}
void exchange(unsigned mask, unsigned source, const void* value, void* other, std::size_t bytes) {
  Block::of_this_thread().exchange(mask, source, value, other, bytes);
}

}  // namespace emulated
