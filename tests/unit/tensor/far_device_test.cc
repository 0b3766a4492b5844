// The far device itself: errors that a GPU would have show there.
#include "tensor/far_device.h"

#include <gtest/gtest.h>

#include "tensor/copies.h"
#include "tensor/fixtures.h"

namespace atl::test {
namespace {

struct FarRank {
  explicit FarRank(unsigned seed = 1) : stream(seed) {}
  FarDevice device;
  ThreadPool pool{1};
  Workspace workspace{Device::kCuda};
  FarStream stream;
  Context ctx{Device::kCuda, &pool, &workspace, &stream};
};

TEST(FarDeviceDeathTest, AKernelRefusesWhatLiesElsewhere) {
  FarRank rank;
  Matrix here(2, 3), there(2, 3, Device::kCuda);
  EXPECT_DEATH(axpby(rank.ctx, 1, here, 0, there),
               "axpby: an operand of 24 bytes is not in the device's memory");
  EXPECT_DEATH(fill(rank.ctx, 0, here), "fill: an operand");
  EXPECT_DEATH(fill(rank.ctx, 0, {there.data(), 2000, 3}), "fill: an operand") << "beyond what was asked for";
}

TEST(FarDeviceDeathTest, TheHostCannotTouchIt) {
  FarRank rank;
  Matrix there(1, 1, Device::kCuda);
  EXPECT_DEATH(there.at(0, 0) = 1, "");
}

TEST(FarDevice, IsLateButInOrder) {
  int late = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    FarRank rank(seed);
    Matrix there(1, 1, Device::kCuda);
    Real before = -1;
    fill(rank.ctx, 2, there);
    scale(rank.ctx, 3, there);
    rank.stream.download(&before, there.data(), sizeof before);
    late += before == -1 ? 1 : 0;
    scale(rank.ctx, 5, there);
    EXPECT_EQ(read(rank.ctx, std::as_const(there).data()), 30);
    EXPECT_EQ(before, 6);
  }
  EXPECT_GT(late, 5);
  EXPECT_LT(late, 20) << "sometimes it is in time";
}

TEST(FarDevice, PoisonsWhatIsNewAndWhatIsFreed) {
  FarRank rank;
  Matrix there(1, 1, Device::kCuda);
  EXPECT_TRUE(std::isnan(read(rank.ctx, std::as_const(there).data())));
  const Real* const freed = there.data();
  fill(rank.ctx, 1, there);
  there = Matrix();
  EXPECT_TRUE(std::isnan(*FarMemory::instance().near(freed)));
}

TEST(FarDevice, CopiesAreOfTheMomentWhenTheyWereAskedFor) {
  FarRank rank;
  DeviceCopies copies(rank.ctx);
  std::vector<Real> host{1, 2, 3};
  const auto there = copies.of(std::span<const Real>(host));
  host.assign(3, 0);
  EXPECT_EQ(read(rank.ctx, there), (std::vector<Real>{1, 2, 3}));
  copies.restart();
  const auto again = copies.of(std::span<const Real>(host));
  EXPECT_EQ(again.data(), there.data()) << "the same memory";
  EXPECT_EQ(read(rank.ctx, again), host);
}

}  // namespace
}  // namespace atl::test
