// Rounding to bfloat16 and back. In place, value i has four bytes at byte 4i as a Real and two at byte 2i as
// a half, so it overlaps value i / 2. Threads share the work in ranges [b, 2b), whose read and written bytes
// are disjoint. Ranges go upwards when narrowing, downwards when widening.

#include <algorithm>
#include <cstring>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

constexpr Index kBatch = 16;    // values at a time: a fixed count becomes vector code
constexpr Index kHead = 32768;  // values at the front that one thread takes, in order

/// Rounds `count` values, at most kBatch; reads all before it writes the first.
void narrow(const Real* from, std::byte* to, Index count) {
  Real values[kBatch];
  Bfloat16 rounded[kBatch];
  std::memcpy(values, from, std::size_t(count) * sizeof(Real));
  for (Index i = 0; i < kBatch; ++i) rounded[i] = to_bfloat16(float(i < count ? values[i] : Real(0)));
  std::memcpy(to, rounded, std::size_t(count) * sizeof(Bfloat16));
}
void widen(const std::byte* from, Real* to, Index count) {
  Bfloat16 rounded[kBatch] = {};
  Real values[kBatch];
  std::memcpy(rounded, from, std::size_t(count) * sizeof(Bfloat16));
  for (Index i = 0; i < kBatch; ++i) values[i] = Real(to_float(rounded[i]));
  std::memcpy(to, values, std::size_t(count) * sizeof(Real));
}

std::byte* words(Real* values) {
  return reinterpret_cast<std::byte*>(values);
}

/// Narrows or widens values begin … end − 1 of a matrix in its own memory, upwards or downwards.
void narrow_range(Real* values, Index begin, Index end) {
  for (Index i = begin; i < end; i += kBatch)
    narrow(values + i, words(values) + i * Index(sizeof(Bfloat16)), std::min(kBatch, end - i));
}
void widen_range(Real* values, Index begin, Index end) {
  for (Index left = end - begin; left > 0;) {
    const Index count = left % kBatch == 0 ? kBatch : left % kBatch, i = begin + left - count;
    widen(words(values) + i * Index(sizeof(Bfloat16)), values + i, count);
    left -= count;
  }
}

}  // namespace

void narrow_in_place(Context& ctx, MatrixView x) {
  const Index count = x.rows * x.cols;
  run_chunks(ctx, 1, [&](Index) { narrow_range(x.data, 0, std::min(count, kHead)); });
  for (Index begin = kHead; begin < count; begin *= 2) {
    const Index end = std::min(count, 2 * begin);
    for_rows(ctx, end - begin, 1, [&](Index b, Index e) { narrow_range(x.data, begin + b, begin + e); });
  }
}

void widen_in_place(Context& ctx, MatrixView x) {
  Index end = x.rows * x.cols;
  while (end > kHead) {
    const Index begin = std::max(kHead, (end + 1) / 2);
    for_rows(ctx, end - begin, 1, [&](Index b, Index e) { widen_range(x.data, begin + b, begin + e); });
    end = begin;
  }
  run_chunks(ctx, 1, [&](Index) { widen_range(x.data, 0, end); });
}

}  // namespace atl::cpu
