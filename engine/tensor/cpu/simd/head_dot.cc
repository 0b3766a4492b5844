// Products of each head's columns with a vector, which are a vertex's attention scores.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {

void head_dot(const HeadDot& h, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    for (Index head = 0; head < h.heads; ++head) {
      const Real* x = h.x.row(row) + head * h.width;
      const Real* y = h.y.row(row) + head * h.width;
      Vec sum{};
      for_columns(0, h.width, [&](Index c, int n) { sum += load(x + c, n) * load(y + c, n); });
      h.product.row(row)[head] = sum_lanes(sum);
    }
  }
}

// All rows have the same y. Adds to d_y, which is the chunk's own.
void head_dot_backward(const HeadDot& h, Real* d_y, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    for (Index head = 0; head < h.heads; ++head) {
      const Real d = h.product.row(row)[head];
      for_columns(head * h.width, (head + 1) * h.width, [&](Index c, int n) {
        store(h.d_x.row(row) + c, load(h.d_x.row(row) + c, n) + load(h.y.row(row) + c, n) * d, n);
        store(d_y + c, load(d_y + c, n) + load(h.x.row(row) + c, n) * d, n);
      });
    }
  }
}

}  // namespace atl::simd::ATOLL_LEVEL
