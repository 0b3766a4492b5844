// Settings of the emulated GPU for tests, and declarations that its parts share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace emulated {

/// Random numbers of xorshift64 (Marsaglia 2003).
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15ull | 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }

 private:
  std::uint64_t state_;
};

/// Sets the seed that draws the order of streams made from now on.
void set_seed(std::uint64_t seed);
std::uint64_t next_seed();
inline constexpr std::size_t kMemory = std::size_t(64) << 30;  // bytes of each GPU
/// Sets the number of GPUs (1). Objects on a GPU stay there.
void set_gpus(int count);
int gpus();
/// Sets what cudaGetDeviceCount answers from now on.
void answer_count_with(cudaError_t status);

/// How many calls of this thread so far have made it wait for a GPU, or would: synchronising ones, and copies
/// from or to memory that isn't pinned.
std::int64_t host_waits();
/// How often this thread has freed memory.
std::int64_t frees();
/// What this thread has had copied between the host's memory and a GPU's, in either direction.
struct Copies {
  std::int64_t calls, bytes;
};
Copies copies();
/// Pieces of host memory that are pinned now, and that have been pinned so far.
struct Registered {
  std::int64_t now, ever;
};
Registered registered();
/// How often this thread has allocated a GPU's memory, and how many bytes.
std::int64_t allocations(), allocated_bytes();
/// Sets whether cudaHostRegister fails from now on, as where too little memory may be pinned.
void refuse_to_register(bool refuses);

// nccl.cc: sets that there is no library from now on; or which rank of a communicator can't join, or can't
// launch (−1: all can).
void hide_nccl(bool hidden);
void refuse_to_join(int rank);
void refuse_to_launch(int rank);
/// How many sums over ranks NCCL has made so far.
std::int64_t nccl_sums();

// cublaslt.cc: how often an algorithm was asked for so far, and a product launched; and whether there is no
// algorithm from now on.
struct LightCalls {
  std::int64_t heuristics, products;
};
LightCalls light_calls();
void have_no_algorithm(bool none);
// cusparse.cc: sets whether there is the library from now on; counts products so far, without captured ones.
void offer_cusparse(bool offers);
std::int64_t cusparse_products();

/// As give(), for work that may not be ready: it returns false, and is tried again. Later work waits.
void give_when(cudaStream_t stream, std::function<bool()> work);
bool is_captured(cudaStream_t stream);
/// −1 where it isn't memory of a GPU.
int gpu_of(const void* data);
/// Bytes from `data` to the end of its piece of a GPU's memory.
std::size_t bytes_from(const void* data);
int this_threads_gpu();
/// Ends the program where a GPU or a library might hang, or give any result.
[[noreturn]] void end(const char* what);

}  // namespace emulated
