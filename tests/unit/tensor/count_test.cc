// The counts that kernels make in a dry run.
#include <gtest/gtest.h>

#include <array>
#include <functional>
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

constexpr double kLine = 64, kFinding = 32;  // bytes of a row, and what finding it counts

TEST_F(Count, ProductsOperationsAndGatheredRowsAreAddedUp) {
  Matrix a(3, 5), w(5, 7), out(3, 7);
  fill(ctx, 1, a), fill(ctx, 1, w);
  counted = {};
  gemm(ctx, a, w, out);
  EXPECT_EQ(counted.calls, 1);
  EXPECT_EQ(counted.product_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(counted.all_streamed(), kReal * (3 * 5 + 5 * 7 + 2 * 3 * 7)) << "what is written is read, too";
  EXPECT_EQ(counted.all_gathered(), 0);

  static constexpr ScratchKey kHalves;
  const MatrixView halves = workspace.matrix(kHalves, 3, 5, Storage::kHalves);
  fill(ctx, 1, halves);
  counted = {};
  gemm(ctx, halves, w, out);
  EXPECT_EQ(counted.half_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(counted.all_streamed(), 2 * 3 * 5 + kReal * (5 * 7 + 2 * 3 * 7));

  const std::vector<Index> offsets{0, 2, 3};
  const std::vector<VertexId> columns{0, 2, 1};
  Matrix sums(2, 5);
  counted = {};
  spmm(ctx, {.csr = {2, 3, offsets.data(), columns.data(), nullptr}}, a, sums);
  EXPECT_EQ(counted.all_gathered(), 3 * (sizeof(VertexId) + kLine + kFinding))
      << "a row and its name for each of 3 arcs";
  EXPECT_EQ(counted.all_streamed(), 2 * kReal * 2 * 5);
  EXPECT_EQ(counted.product_flops, 2 * (24 + 1) * kTermFlops) << "each row's sum is begun";
}

TEST_F(Count, RowsComeInLines) {
  const Index per_line = Index(kLine / kReal);
  const std::vector<VertexId> picks{0};
  for (const Index cols : {Index(1), per_line, per_line + 1}) {
    Matrix table(3, cols), out(1, cols);
    table.zero();
    counted = {};
    gather_rows(ctx, table, picks.data(), out);
    EXPECT_EQ(counted.all_gathered(), sizeof(VertexId) + (cols > per_line ? 2 : 1) * kLine + kFinding)
        << cols << " columns";
  }
}

TEST_F(Count, ColumnsOfAWiderMatrixCountAlone) {
  Matrix wide(3, 10);
  wide.zero();
  counted = {};
  scale(ctx, 2, wide.view().slice_cols(2, 4));
  EXPECT_EQ(counted.all_streamed(), 2 * kReal * 3 * 4);

  Matrix packed(3, 10);
  const auto columns = [&](Index begin, Index count) { return packed.view().slice_cols(begin, count); };
  counted = {};
  softmax_begin(ctx, {{columns(0, 2), columns(2, 2)}, columns(4, 6)});
  EXPECT_EQ(counted.all_streamed(), 2 * kReal * 3 * 10) << "each of the packed columns once";
}

TEST_F(Count, WhatCachesHoldIsToldApart) {
  const std::vector<VertexId> picks{0, 1};
  const auto counted_of = [&](double bytes) {
    Matrix table(Index(bytes / (16 * kReal)), 16), out(2, 16);
    table.zero();
    counted = {};
    gather_rows(ctx, table, picks.data(), out);
    scale(ctx, 2, table);
    return std::array{counted.cached[0].gathered, counted.cached[1].gathered, counted.gathered_bytes};
  };
  const double all = counted_of(kCacheBytes[0])[0];
  EXPECT_GT(all, 0);
  EXPECT_EQ(counted.gathered_bytes + counted.cached[1].gathered, 0);
  EXPECT_EQ(counted.cached[0].streamed, 2 * (kCacheBytes[0] + 2 * 16 * kReal));
  const auto twice = counted_of(2 * kCacheBytes[0]);
  EXPECT_EQ(twice[0], all / 2) << "a core's own cache holds half of it";
  EXPECT_EQ(twice[1], all / 2);
  EXPECT_EQ(counted.cached[0].streamed, 2 * 2 * 16 * kReal)
      << "in order, what comes next isn't what is there";
  const auto far = counted_of(4 * kCacheBytes[1]);
  EXPECT_EQ(far[0], all / 64);
  EXPECT_EQ(far[1], all / 4 - all / 64);
  EXPECT_EQ(far[2], all * 3 / 4);
  EXPECT_EQ(counted.streamed_bytes, 2 * 4 * kCacheBytes[1]);
}

TEST_F(Count, AttentionAndNormsTakeLongerThanTheirMemory) {
  const std::vector<Index> offsets{0, 2};
  const std::vector<VertexId> columns{0, 1};
  Matrix z(2, 4), dst(1, 2), src(2, 2), max(1, 2), sum(1, 2), out(1, 4);
  Attention attention;
  attention.arcs = {.csr = {1, 2, offsets.data(), columns.data(), nullptr}};
  attention.heads = 2;
  z.zero(), dst.zero(), src.zero();
  softmax_begin(ctx, {{max, sum}, out});
  counted = {};
  attention_add(ctx, attention, z, dst, src, {{max, sum}, out});
  EXPECT_EQ(counted.product_flops, kTermFlops * (24 + 1 + 40 + 2 * 5 * (2 + 2)));

  const auto applied = [&](const Epilogue& epilogue) {
    counted = {};
    apply(ctx, epilogue, z, z);
    return counted.product_flops;
  };
  EXPECT_EQ(applied({}), 0);
  EXPECT_EQ(applied({.activation = Activation::kRelu}), kTermFlops * 2 * (8 + 0.5 * 4));
  EXPECT_EQ(applied({.activation = Activation::kElu}), kTermFlops * 2 * (8 + 1.25 * 4));
  EXPECT_EQ(applied({.norm = Epilogue::Norm::kLayer}), kTermFlops * 2 * (16 + 1.5 * 4));
}

TEST(Rates, WhatKernelsReachCountsWhereItIsKnown) {
  const ComputeWork work{.product_flops = 6,
                         .gathered_bytes = 20,
                         .streamed_bytes = 40,
                         .cached = {{{.streamed = 80, .gathered = 30}, {.streamed = 10, .gathered = 10}}}};
  const ComputeWork halves{.half_flops = 12};
  const MachineRates three{.triad_bytes = 10, .gather_bytes = 5, .product_flops = 1};
  EXPECT_DOUBLE_EQ(seconds_of(work, three), 6 + 60.0 / 5 + 130.0 / 10);
  MachineRates all = three;
  MachineRates with_calls = three;
  with_calls.call_seconds = 0.5;
  EXPECT_DOUBLE_EQ(seconds_of({.product_flops = 6, .calls = 4}, with_calls), 6 + 4 * 0.5);
  EXPECT_DOUBLE_EQ(product_seconds(halves, three), 12) << "taken to be as fast as others";
  all.kernel_flops = 2;
  EXPECT_DOUBLE_EQ(product_seconds(halves, all), 6);
  all.half_flops = 4;
  EXPECT_DOUBLE_EQ(product_seconds(halves, all), 3);
  all.caches = {{{.streamed = 80, .gathered = 30}, {.streamed = 20, .gathered = 10}}};
  all.memory = {.streamed = 20, .gathered = 10};
  EXPECT_DOUBLE_EQ(product_seconds(work, all), 3);
  EXPECT_DOUBLE_EQ(gather_seconds(work, all), 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(stream_seconds(work, all), 2 + 1 + 0.5);
  const ComputeWork twice = work + work;
  EXPECT_DOUBLE_EQ(seconds_of(twice, all), 2 * seconds_of(work, all));
  EXPECT_EQ(twice.all_gathered(), 120);
  EXPECT_EQ(twice.all_streamed(), 260);
}

/// A gather's rate must be of the bytes that gathers count. It was of a third of them, so that sums over
/// neighbours were predicted to take 2.9 times as long as the measured ones.
TEST(Rates, AProcessorWhoseKernelsTakeWhatTheyCountHasItsRates) {
  ThreadPool pool(1);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  const MachineRates its{
      .kernel_flops = 90e9,
      .half_flops = 70e9,
      .caches = {{{.streamed = 50e9, .gathered = 40e9}, {.streamed = 30e9, .gathered = 20e9}}},
      .memory = {.streamed = 10e9, .gathered = 5e9}};
  MachineRates measured;
  measure_kernels(ctx, measured, [&](int, const std::function<void()>& kernel) {
    ComputeWork counted;
    ctx.count = &counted;
    kernel();
    ctx.count = nullptr;
    return seconds_of(counted, its);
  });
  const auto expect = [](double rate, double wanted) { EXPECT_NEAR(rate / wanted, 1, 1e-9); };
  expect(measured.kernel_flops, its.kernel_flops);
  expect(measured.half_flops, its.half_flops);
  for (std::size_t c = 0; c < its.caches.size(); ++c) {
    expect(measured.caches[c].streamed, its.caches[c].streamed);
    expect(measured.caches[c].gathered, its.caches[c].gathered);
  }
  expect(measured.memory.streamed, its.memory.streamed);
  expect(measured.memory.gathered, its.memory.gathered);
}

TEST(Rates, ASmallerCacheIsNoSlowerHere) {
  ThreadPool pool(1);
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  MachineRates rates;
  measure_kernels(ctx, rates);
  EXPECT_GT(rates.kernel_flops, 0);
  EXPECT_GT(rates.half_flops, 0);
  EXPECT_GT(rates.memory.streamed, 0);
  for (const KernelBytes& cache : rates.caches) {
    EXPECT_GT(cache.streamed, 0);
    EXPECT_GT(cache.gathered, rates.memory.gathered / 2) << "with room for noise";
  }
}

}  // namespace
}  // namespace atl
