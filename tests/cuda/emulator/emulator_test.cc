// The emulated GPU itself: errors that a GPU would have must show there, or end the program.
#include "emulated.h"

#include <gtest/gtest.h>

#include <thread>

#include "tensor/cuda/elements.h"
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

/// Each thread leaves its number for the one opposite, and reads what that one left.
__global__ void meet(bool waits, int* got) {
  int* const room = cuda::shared_memory<int>();
  room[threadIdx.x] = int(threadIdx.x);
  if (waits) __syncthreads();
  got[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

/// How many of some runs' threads read anything else than they should.
int wrong_numbers(bool waits) {
  GpuRank rank;
  constexpr int kThreadsHere = 64;
  Buffer<int> got(Device::kCuda, kThreadsHere);
  cuda::launch(rank.ctx, 1, kThreadsHere, kThreadsHere * sizeof(int), &meet, waits, got.data());
  const std::vector<int> numbers = read(rank.ctx, std::span<const int>(got.data(), kThreadsHere));
  int wrong = 0;
  for (int i = 0; i < kThreadsHere; ++i) wrong += numbers[std::size_t(i)] != kThreadsHere - 1 - i ? 1 : 0;
  return wrong;
}

TEST(EmulatedGpu, ShowsAMissingBarrier) {
  EXPECT_EQ(wrong_numbers(true), 0);
  EXPECT_GT(wrong_numbers(false), 10);
}

__global__ void use_what_is_there(double* sum) {
  *sum = *cuda::shared_memory<double>();
}

TEST(EmulatedGpu, PoisonsSharedMemory) {
  GpuRank rank;
  Buffer<double> sum(Device::kCuda, 1);
  cuda::launch(rank.ctx, 1, 1, sizeof(double), &use_what_is_there, sum.data());
  EXPECT_TRUE(std::isnan(read(rank.ctx, std::as_const(sum).data())));
}

template <class Kernel, class... Given>
void run_one(Kernel kernel, int threads, std::size_t shared, const Given&... given) {
  GpuRank rank;
  cuda::launch(rank.ctx, 1, threads, shared, kernel, given...);
  rank.ctx.stream->synchronise();
}

__global__ void write_behind(int count) {
  cuda::shared_memory<int>()[count] = 1;
}
__global__ void shuffle_alone(unsigned mask) {
  if (threadIdx.x == 0) __shfl_xor_sync(mask, 1, 1);
}
__global__ void shuffle_without_half() {
  if (threadIdx.x < 16) __shfl_xor_sync(~0u, 1, 1);
}
__global__ void shuffle_outside() {
  __shfl_xor_sync(threadIdx.x < 16 ? 0xffffu : 0xffff0000u, 1, 16);
}
__global__ void leave_before_the_barrier() {
  if (threadIdx.x > 0) __syncthreads();
}
__global__ void touch(Real* device, int) {
  *device = 1;
}

TEST(EmulatedGpuDeathTest, EndsWhereAGpuWouldHangOrAnswerWithAnything) {
  EXPECT_DEATH(run_one(&write_behind, 1, 4 * sizeof(int), 4), "wrote behind the block's shared memory");
  EXPECT_DEATH(run_one(&shuffle_alone, 32, 0, 2u), "isn't in the mask that it gives");
  EXPECT_DEATH(run_one(&shuffle_without_half, 32, 0), "lane that has ended|waits for ever for lanes");
  EXPECT_DEATH(run_one(&shuffle_outside, 32, 0), "reads a lane outside of its mask");
  EXPECT_DEATH(run_one(&leave_before_the_barrier, 32, 0), "has ended|ended while others");
}

TEST(EmulatedGpuDeathTest, TheHostCannotTouchItsMemory) {
  GpuRank rank;
  Buffer<Real> there(Device::kCuda, 1);
  EXPECT_DEATH(*there.data() = 1, "");
  run_one(&touch, 1, 0, there.data(), 0);
}

__global__ void copy_number(const double* from, double* to) {
  *to = *from;
}

/// A number that one stream makes and another reads, over many orders; how often it came too early.
int too_early(bool waits) {
  int early = 0;
  for (unsigned seed = 1; seed < 40; ++seed) {
    emulated::set_seed(seed * 100);
    GpuRank rank;
    cuda::Stream other(0, 0);
    Context second{Device::kCuda, rank.ctx.pool, rank.ctx.workspace, &other};
    Buffer<double> numbers(Device::kCuda, 2);
    const double seven = 7;
    rank.ctx.stream->upload(numbers.data(), &seven, sizeof seven);
    cudaEvent_t event = nullptr;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, cuda::stream_of(rank.ctx).stream());
    if (waits) cudaStreamWaitEvent(other.stream(), event, 0);
    cuda::launch(second, 1, 1, 0, &copy_number, static_cast<const double*>(numbers.data()),
                 numbers.data() + 1);
    double got = 0;
    other.download(&got, numbers.data() + 1, sizeof got);
    other.synchronise();
    early += got != 7 ? 1 : 0;
    rank.ctx.stream->synchronise();
    cudaEventDestroy(event);
  }
  return early;
}

TEST(EmulatedGpu, ShowsADroppedWaitForAnEvent) {
  EXPECT_EQ(too_early(true), 0);
  EXPECT_GT(too_early(false), 10);
}

TEST(EmulatedGpu, ReachesAMarkForWhomeverAsks) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    emulated::set_seed(seed * 100);
    GpuRank rank;
    Buffer<Real> there(Device::kCuda, 1);
    cuda::launch(rank.ctx, 1, 1, 0, &touch, there.data(), 0);
    const DeviceStream::Mark mark = rank.ctx.stream->mark();
    bool reached = false;
    std::thread([&] {
      for (int asked = 0; asked < 10'000 && !reached; ++asked) reached = rank.ctx.stream->reached(mark);
    }).join();
    EXPECT_TRUE(reached);
  }
}

TEST(EmulatedGpuDeathTest, RefusesAnotherGpusMemory) {
  emulated::set_gpus(2);
  const auto from_a_neighbour = [] {
    GpuRank rank;
    Buffer<double> mine(Device::kCuda, 1);
    const OpenDevice other = backend().open(1);  // and this thread's GPU from here on
    Context ctx = rank.ctx;
    ctx.stream = other.stream.get();
    cuda::launch(ctx, 1, 1, sizeof(double), &use_what_is_there, mine.data());
    ctx.stream->synchronise();
  };
  EXPECT_DEATH(from_a_neighbour(), "another GPU's memory");
  emulated::set_gpus(1);
}

TEST(EmulatedGpu, RefusesWhatCublasRefuses) {
  GpuRank rank;
  Matrix a(4, 4, Device::kCuda);
  const Real one = 1;
  const auto handle = cuda::stream_of(rank.ctx).cublas();
  if constexpr (sizeof(Real) == 4) {
    const auto* const x = reinterpret_cast<const float*>(a.data());
    EXPECT_EQ(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, reinterpret_cast<const float*>(&one), x, 3, x,
                    4, reinterpret_cast<const float*>(&one), reinterpret_cast<float*>(a.data()), 4),
        CUBLAS_STATUS_INVALID_VALUE);
  }
}

TEST(EmulatedGpu, SaysWhatIsMissing) {
  install_backend(&cuda::backend());
  const auto words_with = [](cudaError_t status) {
    emulated::answer_count_with(status);
    std::string words;
    try {
      backend().open(0);
    } catch (const Error& error) {
      words = error.what();
    }
    emulated::answer_count_with(cudaSuccess);
    return words;
  };
  EXPECT_EQ(words_with(cudaErrorNoDevice), "device cuda: this machine has no NVIDIA GPU; use --device cpu");
  EXPECT_EQ(
      words_with(cudaErrorInsufficientDriver),
      "device cuda: the NVIDIA driver of this machine is missing or older than CUDA 13.0; use --device cpu");
}

}  // namespace
}  // namespace atl::test
