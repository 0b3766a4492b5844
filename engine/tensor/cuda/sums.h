// Sums over rows or items, in double precision and in an order that depends on the shape alone: each block
// sums a chunk, and the chunks' sums are added in order.
#pragma once

#include "tensor/cuda/elements.h"

namespace atl::cuda {

inline constexpr Index kMostChunks = 256, kFewestRows = 64;  // most chunks, and fewest rows of one

struct Chunks {
  Index rows, step;
  explicit Chunks(Index n) : rows(n), step(blocks_for(n, kMostChunks)) {
    if (step < kFewestRows) step = kFewestRows;
  }
  Index count() const { return blocks_for(rows, step); }
};

/// Fills partial (chunks, K, cols): value(r, c, sums[K]) adds to K sums of column c. A block does a chunk's
/// rows of a warp's columns.
template <int K, class F>
__global__ void sum_columns(F value, Index rows, Index cols, Index step, double* partial) {
  const Index tiles = (cols + kWarp - 1) / kWarp, chunk = blockIdx.x / tiles;
  const Index c = Index(blockIdx.x) % tiles * kWarp + threadIdx.x % kWarp;
  const int warps = int(blockDim.x) / kWarp, warp = int(threadIdx.x) / kWarp;
  const Index stop = (chunk + 1) * step < rows ? (chunk + 1) * step : rows;
  double sums[K] = {};
  if (c < cols)
    for (Index r = chunk * step + warp; r < stop; r += warps) value(r, c, sums);
  auto* const room = shared_memory<double>();  // (K, threads)
  for (int k = 0; k < K; ++k) room[k * int(blockDim.x) + int(threadIdx.x)] = sums[k];
  __syncthreads();
  if (warp > 0 || c >= cols) return;
  for (int k = 0; k < K; ++k) {
    double total = 0;
    for (int w = 0; w < warps; ++w) total += room[k * int(blockDim.x) + w * kWarp + int(threadIdx.x)];
    partial[(chunk * K + k) * cols + c] = total;
  }
}

/// Calls put(c, sums[K]) with the sums of all chunks.
template <int K, class F>
__global__ void add_chunks(F put, Index chunks, Index cols, const double* partial) {
  const Index c = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  double sums[K] = {};
  for (Index chunk = 0; chunk < chunks; ++chunk)
    for (int k = 0; k < K; ++k) sums[k] += partial[(chunk * K + k) * cols + c];
  put(c, sums);
}

inline constexpr ScratchKey kPartialSums;

/// Computes K sums per column over `rows` rows.
template <int K, class F, class Put>
void sum_over_rows(Context& ctx, Index rows, Index cols, const F& value, const Put& put) {
  if (cols == 0) return;
  const Chunks chunks(rows);
  double* const partial = ctx.workspace->doubles(kPartialSums, chunks.count() * K * cols + 1).data();
  launch(ctx, chunks.count() * blocks_for(cols, kWarp), kThreads, K * kThreads * sizeof(double),
         &sum_columns<K, F>, value, rows, cols, chunks.step, partial);
  launch(ctx, blocks_for(cols, 64), 64, 0, &add_chunks<K, Put>, put, chunks.count(), cols, partial);
}

/// Fills partial (blocks) with sums of value(i).
template <class F>
__global__ void sum_items(F value, Index count, Index step, double* partial) {
  const Index stop = (blockIdx.x + 1) * step < count ? (blockIdx.x + 1) * step : count;
  double sum = 0;
  for (Index i = Index(blockIdx.x) * step + threadIdx.x; i < stop; i += blockDim.x) sum += value(i);
  const double total = sum_of_block(sum, shared_memory<double>());
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// *to += Σ of the blocks' sums.
template <class T>
__global__ void add_blocks(const double* partial, Index blocks, T* to) {
  double sum = 0;
  for (Index i = threadIdx.x; i < blocks; i += blockDim.x) sum += partial[i];
  const double total = sum_of_block(sum, shared_memory<double>());
  if (threadIdx.x == 0) *to += total;
}

/// *to += Σ value(i) over i < count.
template <class F>
void sum_over_items(Context& ctx, Index count, double* to, const F& value) {
  if (count == 0) return;
  constexpr Index kBlocks = 1024;
  Index step = blocks_for(count, kBlocks);
  if (step < 4 * kThreads) step = 4 * kThreads;
  const Index blocks = blocks_for(count, step);
  double* const partial = ctx.workspace->doubles(kPartialSums, blocks).data();
  const std::size_t room = kThreads / kWarp * sizeof(double);
  launch(ctx, blocks, kThreads, room, &sum_items<F>, value, count, step, partial);
  launch(ctx, 1, kThreads, room, &add_blocks<double>, static_cast<const double*>(partial), blocks, to);
}

}  // namespace atl::cuda
