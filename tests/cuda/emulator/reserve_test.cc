// A GPU's memory that is reserved in one allocation (tensor/cuda/reserve.h, tensor/device_stream.h).
#include "tensor/cuda/reserve.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/random.h"
#include "emulated.h"
#include "tensor/buffer.h"
#include "tensor/cuda/backend.h"
#include "tensor/device_stream.h"

namespace atl::test {
namespace {

using cuda::Reserve;

TEST(PiecesOfAReserve, DontOverlapAndComeBackWhole) {
  constexpr std::size_t kAll = 64 * Reserve::kUnit;
  Reserve reserve(kAll + 5);
  std::map<std::size_t, std::size_t> held;
  const Draws draws(3, Purpose::kGenerator);
  int refused = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    if (draws.uniform_at(i, 0) < 0.4 && !held.empty()) {
      const auto piece = std::next(held.begin(), std::ptrdiff_t(draws.bits64_at(i, 1) % held.size()));
      reserve.give_back(piece->first);
      held.erase(piece);
      continue;
    }
    const std::size_t bytes = (1 + draws.bits64_at(i, 2) % 9) * Reserve::kUnit;
    const std::optional<std::size_t> at = reserve.take(bytes);
    if (!at) {
      ++refused;
      continue;
    }
    EXPECT_EQ(*at % Reserve::kUnit, 0u);
    EXPECT_LE(*at + bytes, kAll);
    const auto behind = held.lower_bound(*at);
    EXPECT_TRUE(behind == held.end() || *at + bytes <= behind->first);
    EXPECT_TRUE(behind == held.begin() || std::prev(behind)->first + std::prev(behind)->second <= *at);
    held[*at] = bytes;
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(reserve.all_free());
  for (const auto& [at, bytes] : held) reserve.give_back(at);
  EXPECT_TRUE(reserve.all_free());
  EXPECT_EQ(reserve.take(kAll), 0u);
}

TEST(PiecesOfAReserve, LieInTheSmallestGapThatHoldsThem) {
  constexpr std::size_t k = Reserve::kUnit;
  Reserve reserve(20 * k);
  const std::size_t first = *reserve.take(5 * k), second = *reserve.take(k), third = *reserve.take(2 * k);
  ASSERT_TRUE(reserve.take(k));
  reserve.give_back(first), reserve.give_back(third);
  EXPECT_EQ(reserve.take(2 * k), third);
  EXPECT_EQ(reserve.take(5 * k), first);
  reserve.give_back(second);
  EXPECT_EQ(reserve.take(12 * k), std::nullopt);
}

class ReserveOfAGpu : public testing::Test {
 protected:
  void SetUp() override { install_backend(&cuda::backend()); }
  void TearDown() override { install_backend(nullptr); }
};

TEST_F(ReserveOfAGpu, IsWhatPiecesAreGivenOf) {
  const OpenDevice gpu = backend().open(0);
  const std::int64_t asked = emulated::allocations(), freed = emulated::frees();
  {
    const DeviceReserve reserve(Device::kCuda, 1 << 20);
    ASSERT_TRUE(reserve.is_made());
    Buffer<int> numbers(Device::kCuda, 1000), others(Device::kCuda, 10);
    others.resize(2000);
    const Memory& memory = memory_of(Device::kCuda);
    EXPECT_TRUE(memory.holds(numbers.data(), 4000));
    EXPECT_FALSE(memory.holds(numbers.data(), 1 << 16)) << "the pieces beside it are others'";
    EXPECT_EQ(emulated::allocations(), asked + 1);
    EXPECT_EQ(emulated::frees(), freed);
    const Buffer<int> larger(Device::kCuda, 1 << 20);
    EXPECT_EQ(emulated::allocations(), asked + 2) << "what doesn't fit is asked for by itself";
  }
  EXPECT_EQ(emulated::frees(), freed + 2);
}

TEST_F(ReserveOfAGpu, StaysUntilItsLastPieceIsGivenBack) {
  const OpenDevice gpu = backend().open(0);
  const std::int64_t freed = emulated::frees();
  auto reserve = std::make_unique<DeviceReserve>(Device::kCuda, 1 << 20);
  auto numbers = std::make_unique<Buffer<int>>(Device::kCuda, 10);
  reserve.reset();
  EXPECT_EQ(emulated::frees(), freed);
  numbers.reset();
  EXPECT_EQ(emulated::frees(), freed + 1);
}

TEST_F(ReserveOfAGpu, IsNotMadeWhereThereIsntSoMuch) {
  const OpenDevice gpu = backend().open(0);
  const DeviceReserve reserve(Device::kCuda, Index(1) << 60);
  EXPECT_FALSE(reserve.is_made());
  const Buffer<int> numbers(Device::kCuda, 10);
  EXPECT_NE(numbers.data(), nullptr);
}

TEST(ReserveOfAHost, IsNotMade) {
  EXPECT_FALSE(DeviceReserve(Device::kCpu, 1 << 20).is_made());
}

}  // namespace
}  // namespace atl::test
