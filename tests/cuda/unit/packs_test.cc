// Rows that can be read and written by packs of several columns, and rows that can't: the same bits.
#include <functional>
#include <limits>

#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

constexpr Index kRows = 9, kCols = 24,
                kStride = 32;  // columns for packs of eight, without being a whole warp's

Real real(Real value) {
  return value;
}
Real real(Bfloat16 half) {
  return to_float(half);
}

/// A matrix of the device whose rows begin `offset` elements behind where any pack may begin; column c of row
/// r is value(r, c).
template <class T>
struct Placed {
  Placed(Context& ctx, Index offset, const std::function<Real(Index, Index)>& value) : memory(Device::kCuda) {
    std::vector<T> all(kRows * kStride);
    for (Index r = 0; r < kRows; ++r)
      for (Index c = 0; c < kCols; ++c) {
        if constexpr (std::is_same_v<T, Real>) all[std::size_t(r * kStride + offset + c)] = value(r, c);
        if constexpr (!std::is_same_v<T, Real>)
          all[std::size_t(r * kStride + offset + c)] = to_bfloat16(float(value(r, c)));
      }
    memory.resize(Index(all.size()));
    ctx.stream->upload(memory.data(), all.data(), all.size() * sizeof(T));
    view = {memory.data() + offset, kRows, kCols, kStride};
  }
  Buffer<T> memory;
  MatrixView view;
};

/// op(ctx, x, out); out's values as Reals, row by row.
using Operation = std::function<void(Context&, ConstMatrixView, MatrixView)>;
template <class T>
std::vector<Real> result_of(const Operation& op, Index offset) {
  GpuRank rank;
  const Draws draws(5, Purpose::kGenerator);
  const auto random = [&](Index r, Index c) {
    return Real(2 * draws.uniform_at(std::uint64_t(r), std::uint64_t(c)) - 1);
  };
  const Placed<T> x(rank.ctx, offset, random);
  Placed<T> out(rank.ctx, offset, [&](Index r, Index c) { return random(r + kRows, c); });
  op(rank.ctx, x.view, out.view);
  const std::vector<T> memory = read(rank.ctx, std::span<const T>(out.memory.span()));
  std::vector<Real> all;
  for (Index r = 0; r < kRows; ++r)
    for (Index c = 0; c < kCols; ++c) all.push_back(real(memory[std::size_t(r * kStride + offset + c)]));
  return all;
}

/// Halves of which four lie as a pack must, or none do, beside eight; Reals of which none do, beside four.
void expect_same_bits(const Operation& op) {
  const auto halves = result_of<Bfloat16>(op, 0), reals = result_of<Real>(op, 0);
  EXPECT_EQ(result_of<Bfloat16>(op, 4), halves);
  EXPECT_EQ(result_of<Bfloat16>(op, 1), halves);
  EXPECT_EQ(result_of<Real>(op, 1), reals);
  for (const Real value : reals) EXPECT_TRUE(std::isfinite(value));
  for (const Real value : halves) EXPECT_TRUE(std::isfinite(value));
}

TEST(Packs, SumsOfMatricesAreTheSame) {
  expect_same_bits(
      [](Context& ctx, ConstMatrixView x, MatrixView out) { axpby(ctx, Real(0.7), x, Real(-1.3), out); });
}

TEST(Packs, WhatIsWrittenOverIsNotRead) {
  expect_same_bits([](Context& ctx, ConstMatrixView x, MatrixView out) {
    fill(ctx, std::numeric_limits<Real>::quiet_NaN(), out);
    axpby(ctx, Real(0.7), x, 0, out);
  });
}

TEST(Packs, ScaledRowsAreTheSame) {
  expect_same_bits([](Context& ctx, ConstMatrixView, MatrixView out) { scale(ctx, Real(0.7), out); });
}

TEST(Packs, FilledRowsAreTheSame) {
  expect_same_bits([](Context& ctx, ConstMatrixView, MatrixView out) { fill(ctx, Real(0.7), out); });
}

}  // namespace
}  // namespace atl::test
