// The GPU's stream (tensor/cuda/stream.h): the host waits for copies to its memory when it asks for them, and
// not before.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "emulated.h"
#include "tensor/buffer.h"
#include "tensor/cuda/backend.h"
#include "tensor/cuda/status.h"

namespace atl::test {
namespace {

class OnAGpu : public testing::Test {
 protected:
  void SetUp() override { install_backend(&cuda::backend()); }
  void TearDown() override { install_backend(nullptr); }
};
class GpuStream : public OnAGpu, public testing::WithParamInterface<Index> {};

std::vector<int> numbers_from(int first, Index count) {
  std::vector<int> numbers(std::size_t(count), 0);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST_P(GpuStream, CopiesToTheHostAreThereWhenTheStreamHasComeSoFar) {
  const Index count = GetParam();
  const auto bytes = std::size_t(count) * sizeof(int);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    emulated::set_seed(seed);
    const OpenDevice gpu = backend().open(0);
    Buffer<int> first(Device::kCuda, count), second(Device::kCuda, count);
    gpu.stream->upload(first.data(), numbers_from(1, count).data(), bytes);
    gpu.stream->upload(second.data(), numbers_from(7, count).data(), bytes);
    std::vector<int> got(std::size_t(count), 0), later = got;
    gpu.stream->download(got.data(), first.data(), bytes);
    const DeviceStream::Mark mark = gpu.stream->mark();
    gpu.stream->download(later.data(), second.data(), bytes);
    std::thread([&] {  // as a progress thread asks
      while (!gpu.stream->reached(mark)) std::this_thread::yield();
      EXPECT_EQ(got, numbers_from(1, count));
    })
        .join();
    gpu.stream->synchronise();
    EXPECT_EQ(later, numbers_from(7, count));
  }
}
// From one number to more than both halves of the pinned memory.
INSTANTIATE_TEST_SUITE_P(Counts, GpuStream, testing::Values(1, 1000, 7 << 20));

/// As the watch over a lone rank's device asks; a call that hangs has the same number until it ends.
TEST_F(OnAGpu, TheCallThatAThreadIsInIsKnownToOthers) {
  const OpenDevice gpu = backend().open(0);
  EXPECT_EQ(backend().call(), 0U) << "no thread is in one";
  std::uint64_t first = 0;
  {
    const cuda::Calling calling;
    first = backend().call();
    EXPECT_NE(first, 0U);
    EXPECT_EQ(backend().call(), first);
  }
  EXPECT_EQ(backend().call(), 0U);
  gpu.stream->synchronise();  // calls of its own
  EXPECT_EQ(backend().call(), 0U);
  const cuda::Calling calling;
  EXPECT_NE(backend().call(), first) << "others have ended since";
}

/// As the watch over a lone rank's device asks, or a progress thread.
TEST_F(OnAGpu, ACopyIsThereWhoeverFindsItsMarkReached) {
  const OpenDevice gpu = backend().open(0);
  Buffer<int> number(Device::kCuda, 1);
  const int seven = 7;
  gpu.stream->upload(number.data(), &seven, sizeof seven);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) gpu.stream->reached(gpu.stream->newest());
  });
  int missing = 0;
  for (int i = 0; i < 5000; ++i) {
    int got = 0;
    gpu.stream->download(&got, number.data(), sizeof got);
    const DeviceStream::Mark mark = gpu.stream->newest();
    while (!gpu.stream->reached(mark)) std::this_thread::yield();
    if (got != seven) ++missing;
    gpu.stream->synchronise();
  }
  over = true;
  other.join();
  EXPECT_EQ(missing, 0);
}

TEST_F(OnAGpu, TheHostWaitsForThemOnce) {
  const OpenDevice gpu = backend().open(0);
  Buffer<int> numbers(Device::kCuda, 1000);
  std::vector<int> got(1000);
  const std::int64_t before = emulated::host_waits();
  for (int i = 0; i < 10; ++i) gpu.stream->download(got.data(), numbers.data(), 4000);
  EXPECT_EQ(emulated::host_waits(), before);
  gpu.stream->synchronise();
  EXPECT_LE(emulated::host_waits(), before + 1);
}

/// A mark's event is used again once anybody has found it reached: not while another thread waits for it.
TEST_F(OnAGpu, OneThreadMarksAndWaits) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const OpenDevice gpu = backend().open(0);
  gpu.stream->wait(gpu.stream->mark());
  EXPECT_DEATH(std::thread([&] { gpu.stream->mark(); }).join(), "marked and waited for by two threads");
}

/// All calls fail after a kernel has, under their own names.
TEST_F(OnAGpu, AFaultOfAKernelSaysHowItIsFound) {
  const auto words_of = [](cudaError_t status) -> std::string {
    try {
      cuda::must(status, "cudaMemcpyAsync");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const cudaError_t status :
       {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure}) {
    EXPECT_NE(words_of(status).find("CUDA_LAUNCH_BLOCKING=1"), std::string::npos);
    EXPECT_NE(words_of(status).find("compute-sanitizer"), std::string::npos);
  }
  EXPECT_EQ(words_of(cudaErrorInvalidValue).find("compute-sanitizer"), std::string::npos);
}

}  // namespace
}  // namespace atl::test
