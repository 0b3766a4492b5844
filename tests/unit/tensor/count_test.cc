// What kernels count where a dry run asks them to.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/kernels.h"
#include "tensor/rates.h"

namespace atl {
namespace {

constexpr double kReal = sizeof(Real);

TEST(Count, ProductsOperationsAndGatheredRowsAreAddedUp) {
  ThreadPool pool(1);
  Workspace workspace;
  ComputeWork counted;
  Context ctx{Device::kCpu, &pool, &workspace};
  ctx.count = &counted;
  Matrix a(3, 5), w(5, 7), out(3, 7);
  fill(ctx, 1, a), fill(ctx, 1, w);
  counted = {};
  gemm(ctx, a, w, out);
  EXPECT_EQ(counted.product_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(counted.streamed_bytes, kReal * (3 * 5 + 5 * 7 + 3 * 7));
  EXPECT_EQ(counted.gathered_bytes, 0);

  const std::vector<Index> offsets{0, 2, 3};
  const std::vector<VertexId> columns{0, 2, 1};
  Matrix sums(2, 5);
  counted = {};
  spmm(ctx, {.csr = {2, 3, offsets.data(), columns.data(), nullptr}}, a, sums);
  EXPECT_EQ(counted.gathered_bytes, 3 * (sizeof(VertexId) + 5 * kReal))
      << "a row and its name for each of 3 arcs";
  EXPECT_EQ(counted.streamed_bytes, kReal * 2 * 5);
  EXPECT_EQ(counted.product_flops, 0);
}

}  // namespace
}  // namespace atl
