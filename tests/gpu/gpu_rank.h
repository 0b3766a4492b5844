// Shared by programs that measure kernels: a rank on the GPU, its clock, operands.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/threads.h"
#include "skewed_graph.h"
#include "tensor/buffer.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "tensor/cuda/stream.h"
#include "tensor/kernels.h"

namespace atl {

inline constexpr int kRuns = 11;

/// A rank on the GPU.
struct GpuRank {
  GpuRank() {
    install_backend(&cuda::backend());
    open = backend().open(0);
    ctx = {Device::kCuda, &pool, &workspace, open.stream.get()};
  }
  ~GpuRank() { workspace = Workspace(Device::kCuda); }

  /// Median seconds of several runs.
  double seconds(const std::function<void()>& work) {
    cudaStream_t stream = cuda::stream_of(ctx).stream();
    cudaEvent_t begin = nullptr, end = nullptr;
    ATOLL_MUST(cudaEventCreate(&begin));
    ATOLL_MUST(cudaEventCreate(&end));
    std::vector<float> times;
    for (int run = 0; run < kRuns + 2; ++run) {
      ATOLL_MUST(cudaEventRecord(begin, stream));
      work();
      ATOLL_MUST(cudaEventRecord(end, stream));
      ATOLL_MUST(cudaEventSynchronize(end));
      float milliseconds = 0;
      ATOLL_MUST(cudaEventElapsedTime(&milliseconds, begin, end));
      if (run >= 2) times.push_back(milliseconds);
    }
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    ATOLL_MUST(cudaEventDestroy(begin));
    ATOLL_MUST(cudaEventDestroy(end));
    return double(times[kRuns / 2]) * 1e-3;
  }

  OpenDevice open;
  ThreadPool pool{1};
  Workspace workspace{Device::kCuda};
  Context ctx;
};

/// Random numbers, because some hardware is faster on zeros.
inline Matrix random_matrix(Index rows, Index cols) {
  Matrix host(rows, cols), there(rows, cols, Device::kCuda);
  for (Index i = 0; i < rows * cols; ++i)
    host.data()[i] = Real(std::int32_t(mix32(std::uint32_t(i) * 2654435761u + 17))) * Real(0x1p-31);
  memory_of(Device::kCuda).upload(there.data(), host.data(), std::size_t(host.bytes()));
  return there;
}

/// The same numbers in halves.
struct Halves {
  Halves(GpuRank& rank, const Matrix& from)
      : memory(1, reals_of(from.rows() * from.cols(), Storage::kHalves), Device::kCuda),
        view(memory.data(), from.rows(), from.cols(), Storage::kHalves) {
    axpby(rank.ctx, 1, from, 0, view);
  }
  Matrix memory;
  MatrixView view;
};

struct PlacedGraph {
  PlacedGraph(GpuRank& rank, const Graph& g)
      : copies(rank.ctx),
        csr(copies.of(CsrView{g.vertices, g.vertices, g.offsets.data(), g.columns.data(), nullptr})) {}
  DeviceCopies copies;
  CsrView csr;
};

inline void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace atl
