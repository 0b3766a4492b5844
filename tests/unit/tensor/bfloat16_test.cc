#include "tensor/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/kernels.h"

namespace atl {
namespace {

float rounded(float value) {
  return to_float(to_bfloat16(value));
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(rounded(1.0F), 1.0F);
  EXPECT_EQ(rounded(0x1.00p0F + 0x1p-8F), 0x1.00p0F) << "halfway between 1 and 1 + 2⁻⁷: the even one";
  EXPECT_EQ(rounded(0x1.02p0F + 0x1p-8F), 0x1.04p0F);
  EXPECT_EQ(rounded(-0x1.02p0F - 0x1p-8F), -0x1.04p0F);
  EXPECT_EQ(rounded(1.0F + 0x1p-8F + 0x1p-20F), 1.0F + 0x1p-7F);
  EXPECT_EQ(rounded(0x1p-140F), 0.0F + to_float({std::uint16_t(0)}));
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001u)))) << "a NaN in the lower half alone";
  for (float v = 1e-30F; v < 1e30F; v *= 1.37F) EXPECT_NEAR(rounded(v), v, v * 0x1p-8F);
}

/// In its own memory, whatever the number of values and of threads.
TEST(Bfloat16, InPlaceIsThereAndBack) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    for (const Index rows : {0, 1, 5, 4096, 32768, 32769, 70000, 200001}) {
      Matrix x(rows, 3);
      for (Index i = 0; i < rows * 3; ++i) x.data()[i] = std::sin(float(i)) * float(i % 1000);
      const Matrix before = x.clone();
      narrow_in_place(ctx, x);
      const auto* const narrow = reinterpret_cast<const Bfloat16*>(x.data());
      for (Index i = 0; i < rows * 3; i += 101)
        ASSERT_EQ(to_float(narrow[i]), rounded(before.data()[i])) << i << " of " << rows << " rows";
      widen_in_place(ctx, x);
      for (Index i = 0; i < rows * 3; ++i)
        ASSERT_EQ(x.data()[i], rounded(before.data()[i])) << i << " of " << rows << " rows";
    }
  }
}

TEST(Bfloat16, GathersRows) {
  ThreadPool pool(2);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  Matrix x(50, 37);
  for (Index i = 0; i < 50 * 37; ++i) x.data()[i] = float(i) * 1.001F;
  const std::vector<VertexId> index{49, 3, 3, 0};
  std::vector<Bfloat16> memory(4 * 37);
  gather_rows(ctx, x, index.data(), MatrixView(memory.data(), 4, 37));
  for (Index r = 0; r < 4; ++r)
    for (Index c = 0; c < 37; ++c)
      ASSERT_EQ(to_float(memory[std::size_t(r * 37 + c)]), rounded(x.at(index[std::size_t(r)], c)));
}

}  // namespace
}  // namespace atl
