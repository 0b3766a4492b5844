// What kernels count where a dry run asks them to.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/kernels.h"
#include "tensor/rates.h"

namespace atl {
namespace {

constexpr double kReal = sizeof(Real);

class Count : public testing::Test {
 protected:
  Count() { ctx.count = &counted; }
  ThreadPool pool{1};
  Workspace workspace;
  ComputeWork counted;
  Context ctx{Device::kCpu, &pool, &workspace};
};

TEST_F(Count, ProductsOperationsAndGatheredRowsAreAddedUp) {
  Matrix a(3, 5), w(5, 7), out(3, 7);
  fill(ctx, 1, a), fill(ctx, 1, w);
  counted = {};
  gemm(ctx, a, w, out);
  EXPECT_EQ(counted.product_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(counted.near_streamed_bytes, kReal * (3 * 5 + 5 * 7 + 3 * 7));
  EXPECT_EQ(counted.near_gathered_bytes, 0);

  const std::vector<Index> offsets{0, 2, 3};
  const std::vector<VertexId> columns{0, 2, 1};
  Matrix sums(2, 5);
  counted = {};
  spmm(ctx, {.csr = {2, 3, offsets.data(), columns.data(), nullptr}}, a, sums);
  EXPECT_EQ(counted.near_gathered_bytes, 3 * (sizeof(VertexId) + 5 * kReal))
      << "a row and its name for each of 3 arcs";
  EXPECT_EQ(counted.near_streamed_bytes, kReal * 2 * 5);
  EXPECT_EQ(counted.product_flops, 0);
}

TEST_F(Count, WhatNoCacheHoldsIsToldApart) {
  const Index rows = Index(kNearBytes / (16 * kReal)) + 1;
  Matrix table(rows, 16), out(2, 16);
  table.zero();
  const std::vector<VertexId> picks{0, VertexId(rows - 1)};
  gather_rows(ctx, table, picks.data(), out);
  EXPECT_EQ(counted.gathered_bytes, 2 * (sizeof(VertexId) + 16 * kReal));
  EXPECT_EQ(counted.near_gathered_bytes, 0);
  EXPECT_EQ(counted.near_streamed_bytes, kReal * 2 * 16) << "what is written is small";
  scale(ctx, 2, table);
  EXPECT_EQ(counted.streamed_bytes, double(table.bytes()));
}

TEST(Rates, MatricesThatACacheHoldsAreFaster) {
  const MachineRates rates{.triad_bytes = 10,
                           .gather_bytes = 5,
                           .product_flops = 1,
                           .near_triad_bytes = 40,
                           .near_gather_bytes = 20};
  EXPECT_DOUBLE_EQ(seconds_of({.gathered_bytes = 10, .near_gathered_bytes = 10}, rates), 2.5);
  EXPECT_DOUBLE_EQ(seconds_of({.streamed_bytes = 10, .near_streamed_bytes = 10}, rates), 1.25);
  const MachineRates three{.triad_bytes = 10, .gather_bytes = 5, .product_flops = 1};
  EXPECT_DOUBLE_EQ(seconds_of({.near_gathered_bytes = 10, .near_streamed_bytes = 10}, three), 3);
}

}  // namespace
}  // namespace atl
