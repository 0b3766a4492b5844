// Work on each element of a matrix: either each row has a group of lanes of a warp, or each element a thread.
#pragma once

#include "tensor/cuda/launch.h"

namespace atl::cuda {

/// Calls work(r, c); a group of lanes does each row.
template <class F>
__global__ void every_element(Index rows, Index cols, int log, F work) {
  const Index row = (Index(blockIdx.x) * blockDim.x + threadIdx.x) >> log;
  const int lanes = 1 << log;
  if (row >= rows) return;
  for (Index c = int(threadIdx.x) & (lanes - 1); c < cols; c += lanes) work(row, c);
}

/// Calls work(r, lanes of the row).
template <class F>
__global__ void every_row(Index rows, int log, F work) {
  const Index row = (Index(blockIdx.x) * blockDim.x + threadIdx.x) >> log;
  if (row < rows) work(row, Lanes(log));
}

/// Calls work(i).
template <class F>
__global__ void every_item(Index count, F work) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) work(i);
}

template <class F>
void for_elements(Context& ctx, Index rows, Index cols, const F& work) {
  if (cols == 0) return;
  const int log = lanes_for(cols);
  launch(ctx, blocks_for(rows, kThreads >> log), kThreads, 0, &every_element<F>, rows, cols, log, work);
}

/// `cols`: amount of work in a row.
template <class F>
void for_rows(Context& ctx, Index rows, Index cols, const F& work) {
  const int log = lanes_for(cols);
  launch(ctx, blocks_for(rows, kThreads >> log), kThreads, 0, &every_row<F>, rows, log, work);
}

template <class F>
void for_items(Context& ctx, Index count, const F& work) {
  launch(ctx, blocks_for(count, kThreads), kThreads, 0, &every_item<F>, count, work);
}

}  // namespace atl::cuda
