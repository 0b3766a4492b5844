// What tests may set of the emulated GPU, and what its parts share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace emulated {

/// Draws of xorshift64 (Marsaglia 2003).
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

/// Seed of the orders of streams that are made from now on.
void set_seed(std::uint64_t seed);
std::uint64_t next_seed();
inline constexpr std::size_t kMemory = std::size_t(64) << 30;  // bytes of each GPU
/// How many GPUs there are (1). Whatever is on one stays there.
void set_gpus(int count);
int gpus();
/// What cudaGetDeviceCount answers from now on.
void answer_count_with(cudaError_t status);

/// How many calls of this thread have made it wait for a GPU so far, or would: synchronising ones, and copies
/// from or to memory that isn't pinned.
std::int64_t host_waits();
/// How often this thread has given memory back.
std::int64_t frees();
/// Pieces of the host's own memory that are pinned now, and have been so far.
struct Registered {
  std::int64_t now, ever;
};
Registered registered();
/// How often this thread has asked for memory of a GPU, and for how many bytes.
std::int64_t allocations(), allocated_bytes();
/// Whether cudaHostRegister finds too little that it may pin from now on.
void refuse_to_register(bool refuses);

// nccl.cc: without a library from now on; where the communicator's rank with this number can't join, or can't
// launch (−1: all can).
void hide_nccl(bool hidden);
void refuse_to_join(int rank);
void refuse_to_launch(int rank);
/// Sums over ranks that NCCL has made so far.
std::int64_t nccl_sums();

// cublaslt.cc: how often an algorithm was asked for so far, and a product given; whether there is no
// algorithm from now on.
struct LightCalls {
  std::int64_t heuristics, products;
};
LightCalls light_calls();
void have_no_algorithm(bool none);
// cusparse.cc: whether there is the library from now on; products so far, captured ones left out.
void offer_cusparse(bool offers);
std::int64_t cusparse_products();

/// As give(), of work that may be no good yet: false, and it is asked again. What comes behind waits.
void give_when(cudaStream_t stream, std::function<bool()> work);
bool is_captured(cudaStream_t stream);
/// −1 where it isn't a GPU's memory.
int gpu_of(const void* data);
/// How much there is from there to the end of its piece of a GPU's memory.
std::size_t bytes_from(const void* data);
int this_threads_gpu();
/// What a GPU or a library would answer with a hang or with anything.
[[noreturn]] void end(const char* what);

}  // namespace emulated
