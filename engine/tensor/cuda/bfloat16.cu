// Rounding to bfloat16 and back. In place, values move to or from the front of their own memory. Ranges [b,
// 2b) read and write disjoint bytes, upwards when narrowing, downwards when widening. One block does the
// front, batch after batch.
#include "tensor/cuda/elements.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr Index kHead = 8192;  // values at the front

__device__ Bfloat16* words(Real* values) {
  return reinterpret_cast<Bfloat16*>(values);
}

/// Narrows the values before `count`; each batch is read whole before its first value is written.
__global__ void narrow_head(Real* values, Index count) {
  for (Index batch = 0; batch < count; batch += blockDim.x) {
    const Index i = batch + threadIdx.x;
    const Real value = i < count ? values[i] : Real(0);
    __syncthreads();
    if (i < count) words(values)[i] = to_bfloat16(float(value));
    __syncthreads();
  }
}
__global__ void widen_head(Real* values, Index count) {
  const Index batches = (count + blockDim.x - 1) / blockDim.x;
  for (Index batch = batches - 1; batch >= 0; --batch) {
    const Index i = batch * blockDim.x + threadIdx.x;
    const Bfloat16 value = i < count ? words(values)[i] : Bfloat16{};
    __syncthreads();
    if (i < count) values[i] = Real(to_float(value));
    __syncthreads();
  }
}

}  // namespace

void narrow_in_place(Context& ctx, MatrixView x) {
  const Index count = x.rows * x.cols;
  Real* const values = x.data;
  launch(ctx, 1, 4 * kThreads, 0, &narrow_head, values, count < kHead ? count : kHead);
  for (Index begin = kHead; begin < count; begin *= 2) {
    const Index size = (count < 2 * begin ? count : 2 * begin) - begin;
    for_items(ctx, size,
              [=] __device__(Index i) { words(values)[begin + i] = to_bfloat16(float(values[begin + i])); });
  }
}

void widen_in_place(Context& ctx, MatrixView x) {
  Index end = x.rows * x.cols;
  Real* const values = x.data;
  while (end > kHead) {
    const Index half = (end + 1) / 2, begin = half < kHead ? kHead : half;
    for_items(ctx, end - begin,
              [=] __device__(Index i) { values[begin + i] = Real(to_float(words(values)[begin + i])); });
    end = begin;
  }
  launch(ctx, 1, 4 * kThreads, 0, &widen_head, values, end);
}

}  // namespace atl::cuda
