// Rates of the GPU's kernels, one JSON object per line, each with its limit: the device's own copy for
// kernels that move bytes, cuSPARSE and cuBLAS alone for the same sums and products. Timed by the device's
// events after a warm-up; results are checked in tests/cuda/unit.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gpu_rank.h"
#include "sparse_sums.h"
#include "tensor/cuda/finished_products.h"

namespace atl {
namespace {

double copy_rate(GpuRank& rank) {
  const Index floats = Index(1) << 28;  // 1 GiB
  Matrix from = random_matrix(1, floats), to(1, floats, Device::kCuda);
  const double seconds = rank.seconds([&] {
    ATOLL_MUST(cudaMemcpyAsync(to.data(), from.data(), std::size_t(from.bytes()), cudaMemcpyDeviceToDevice,
                               cuda::stream_of(rank.ctx).stream()));
  });
  return 2 * double(from.bytes()) / seconds;
}

/// The same sum by cuSPARSE.
struct SparseSeconds {
  double fastest = 1e30;
  double same_bits = 0;  // by the algorithm whose results are the same in each run; 0: it can't
};
SparseSeconds sparse_seconds(GpuRank& rank, const Graph& g, const PlacedGraph& placed, ConstMatrixView x,
                             MatrixView out) {
  SparseSeconds found;
  for (const SparseSum& each : sparse_sums(rank.ctx, g.offsets, placed.csr, x, out)) {
    const double seconds = rank.seconds([&] { each.run(rank.ctx); });
    found.fastest = std::min(found.fastest, seconds);
    if (each.same_bits) found.same_bits = seconds;
  }
  return found;
}

void sums(GpuRank& rank, const Graph& g, double copy) {
  PlacedGraph placed(rank, g);
  const Matrix scales = random_matrix(1, g.vertices);
  for (const Index f : {16, 40, 64, 100, 128, 256, 512}) {
    if (g.vertices * f > Index(1) << 30) continue;
    const Matrix x = random_matrix(g.vertices, f);
    Matrix out(g.vertices, f, Device::kCuda);
    const double bytes = double(g.arcs()) * double(4 * f + 4) + double(g.vertices) * double(4 * f + 8);
    const double plain = rank.seconds([&] { spmm(rank.ctx, {placed.csr}, x, out); });
    const double scaled = rank.seconds([&] {
      spmm(rank.ctx, {placed.csr, scales.data(), scales.data()}, x, out);
    });
    const Halves x_halves(rank, x), out_halves(rank, x);
    const double halves = rank.seconds([&] { spmm(rank.ctx, {placed.csr}, x_halves.view, out_halves.view); });
    const auto [cusparse, same_bits] = sparse_seconds(rank, g, placed, x, out);
    print(fmt::format(
        R"({{"figure": "spmm", "graph": "{}", "columns": {}, "seconds": {:.6g}, "scaledSeconds": {:.6g}, "halvesSeconds": {:.6g}, )"
        R"("gatheredBytes": {:.6g}, "shareOfCopy": {:.3f}, "cusparseSeconds": {:.6g}, "cusparseSameBitsSeconds": {:.6g}, "timesCusparse": {:.3f}}})",
        g.name, f, plain, scaled, halves, bytes, bytes / plain / copy, cusparse, same_bits,
        cusparse / plain));
  }
}

void attention(GpuRank& rank, const Graph& g, double copy) {
  PlacedGraph placed(rank, g);
  const Index* const reversed = placed.copies.of(std::span<const Index>(g.reversed)).data();
  for (const auto& [heads, width] : {std::pair{4, 64}, {8, 8}, {1, 128}}) {
    const Index n = g.vertices, f = Index(heads) * width;
    const Matrix z = random_matrix(n, f), dst = random_matrix(n, heads), src = random_matrix(n, heads),
                 d_out = random_matrix(n, f);
    Matrix max(n, heads, Device::kCuda), sum(n, heads, Device::kCuda), out(n, f, Device::kCuda),
        dot(n, heads, Device::kCuda), d_z(n, f, Device::kCuda), d_src(n, heads, Device::kCuda),
        d_dst(n, heads, Device::kCuda);
    Attention a;
    a.arcs = {placed.csr};
    a.heads = heads;
    const Softmaxes s{{max, sum}, out};
    const double forward = rank.seconds([&] {
      softmax_begin(rank.ctx, s);
      attention_add(rank.ctx, a, z, dst, src, s);
      attention_finish(rank.ctx, s);
    });
    fill(rank.ctx, 0, d_dst);
    attention_dot(rank.ctx, heads, out, d_out, dot);
    const double backward = rank.seconds([&] {  // the graph is its own transpose
      attention_backward(rank.ctx, a, placed.csr, reversed, z, dst, src, s.state, dot, d_out, d_z, d_src,
                         d_dst);
    });
    const Halves z_halves(rank, z), out_halves(rank, z), d_out_halves(rank, d_out), d_z_halves(rank, z);
    const Softmaxes in_halves{{max, sum}, out_halves.view};
    const double halves_forward = rank.seconds([&] {
      softmax_begin(rank.ctx, in_halves);
      attention_add(rank.ctx, a, z_halves.view, dst, src, in_halves);
      attention_finish(rank.ctx, in_halves);
    });
    const double halves_backward = rank.seconds([&] {
      attention_backward(rank.ctx, a, placed.csr, reversed, z_halves.view, dst, src, s.state, dot,
                         d_out_halves.view, d_z_halves.view, d_src, d_dst);
    });
    const double bytes = double(g.arcs()) * double(4 * f + 4 * heads + 4) + double(n) * double(8 * f);
    print(fmt::format(
        R"({{"figure": "attention", "graph": "{}", "heads": {}, "width": {}, "forwardSeconds": {:.6g}, )"
        R"("backwardSeconds": {:.6g}, "gatheredBytes": {:.6g}, "forwardShareOfCopy": {:.3f}, )"
        R"("halvesForwardSeconds": {:.6g}, "halvesBackwardSeconds": {:.6g}}})",
        g.name, heads, width, forward, backward, bytes, bytes / forward / copy, halves_forward,
        halves_backward));
  }
}

/// Whether cuBLASLt does bias and ReLU within this product.
bool is_finished_within(GpuRank& rank, ConstMatrixView x, ConstMatrixView w, MatrixView y) {
  return cuda::stream_of(rank.ctx).finished_products().plan(x, w, y, false, true).has_value();
}

void products(GpuRank& rank) {
  for (const auto& [n, k, m] : {std::tuple{169343, 128, 128},
                                {169343, 128, 256},
                                {169343, 256, 256},
                                {169343, 256, 40},
                                {232965, 602, 128}}) {
    const Matrix x = random_matrix(n, k), w = random_matrix(k, m), bias = random_matrix(1, m);
    Matrix y(n, m, Device::kCuda), d_w(k, m, Device::kCuda);
    Epilogue e;
    e.bias = bias.data();
    e.activation = Activation::kRelu;
    const double bare = rank.seconds([&] { gemm(rank.ctx, x, w, y); });
    const double finished = rank.seconds([&] { gemm(rank.ctx, x, w, y, false, e); });
    const double transposed = rank.seconds([&] { gemm_at(rank.ctx, x, {}, y, d_w); });
    const Halves x_halves(rank, x), y_halves(rank, y), w_halves(rank, w);
    const double halves = rank.seconds([&] { gemm(rank.ctx, x_halves.view, w, y_halves.view); });
    const double halves_finished =
        rank.seconds([&] { gemm(rank.ctx, x_halves.view, w, y_halves.view, false, e); });
    const double halves_transposed =
        rank.seconds([&] { gemm_at(rank.ctx, x_halves.view, {}, y_halves.view, d_w); });
    const double flops = 2.0 * n * k * m;
    print(fmt::format(
        R"({{"figure": "gemm", "shape": "{} x {} x {}", "cublasSeconds": {:.6g}, "withBiasAndReluSeconds": )"
        R"({:.6g}, "weightGradientSeconds": {:.6g}, "tflops": {:.4g}, "weightGradientTflops": {:.4g}, "halvesSeconds": {:.6g}, )"
        R"("halvesWithBiasAndReluSeconds": {:.6g}, "halvesWeightGradientSeconds": {:.6g}, "finishedWithin": {}, "halvesFinishedWithin": {}}})",
        n, k, m, bare, finished, transposed, flops / bare / 1e12, flops / transposed / 1e12, halves,
        halves_finished, halves_transposed, is_finished_within(rank, x, w, y),
        is_finished_within(rank, x_halves.view, w_halves.view, y_halves.view)));
  }
}

/// What the ReLU within a product makes of a NaN, which cuBLASLt's manual leaves open.
void relu_of_nan(GpuRank& rank) {
  const Index n = 1024, m = 256;
  const Matrix w = random_matrix(m, m), bias = random_matrix(1, m);
  Matrix x(n, m, Device::kCuda), y(n, m, Device::kCuda);
  fill(rank.ctx, std::numeric_limits<Real>::quiet_NaN(), x);
  Epilogue e;
  e.bias = bias.data();
  e.activation = Activation::kRelu;
  const auto passes = [&](const auto& multiply) {
    multiply();
    return std::isnan(read(rank.ctx, y.data())) ? "true" : "false";
  };
  const Halves x_halves(rank, x), y_halves(rank, x);
  const std::string reals = passes([&] { gemm(rank.ctx, x, w, y, false, e); });
  const std::string halves = passes([&] {
    gemm(rank.ctx, x_halves.view, w, y_halves.view, false, e);
    axpby(rank.ctx, 1, y_halves.view, 0, y);
  });
  print(fmt::format(R"({{"figure": "reluOfNan", "passes": {}, "halvesPass": {}}})", reals, halves));
}

void rows(GpuRank& rank, double copy) {
  const Index n = 169343;
  for (const Index m : {40, 128, 256}) {
    const Matrix x = random_matrix(n, m), bias = random_matrix(1, m);
    Matrix y(n, m, Device::kCuda), d(n, m, Device::kCuda), d_bias(1, m, Device::kCuda);
    std::vector<VertexId> ids(std::size_t{n});
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = VertexId(i);
    DeviceCopies copies(rank.ctx);
    Epilogue e;
    e.bias = bias.data();
    e.activation = Activation::kRelu;
    e.dropout = {
        .rate = 0.5, .draws = Draws(1, Purpose::kDropout), .ids = copies.of(std::span<const VertexId>(ids))};
    const double there = rank.seconds([&] { apply(rank.ctx, e, x, y); });
    const double back = rank.seconds([&] { apply_backward(rank.ctx, e, {}, y, d, {.bias = d_bias.data()}); });
    const Halves x_halves(rank, x), y_halves(rank, x), d_halves(rank, x);
    const double halves_there = rank.seconds([&] { apply(rank.ctx, e, x_halves.view, y_halves.view); });
    const double halves_back = rank.seconds(
        [&] { apply_backward(rank.ctx, e, {}, y_halves.view, d_halves.view, {.bias = d_bias.data()}); });
    const double bytes = double(x.bytes());
    print(fmt::format(
        R"({{"figure": "rows", "shape": "{} x {}", "biasReluDropoutSeconds": {:.6g}, "shareOfCopy": {:.3f}, )"
        R"("backwardSeconds": {:.6g}, "backwardShareOfCopy": {:.3f}, "halvesSeconds": {:.6g}, "halvesBackwardSeconds": {:.6g}}})",
        n, m, there, 2 * bytes / there / copy, back, 4 * bytes / back / copy, halves_there, halves_back));
  }
}

/// The real ones' sizes; all of them where none is named.
struct Shape {
  std::string name;
  Index vertices, arcs;
  double skew;
};
const Shape kShapes[] = {{"arxiv", 169343, 2332486, 2.2},
                         {"reddit", 232965, 114615892, 1.6},
                         {"products", 2449029, 123718280, 1.6}};

void run(const std::vector<std::string>& names) {
  GpuRank rank;
  const double copy = copy_rate(rank);
  print(
      fmt::format(R"({{"figure": "copy", "device": "{}", "bytesPerSecond": {:.6g}}})", rank.open.name, copy));
  products(rank);
  relu_of_nan(rank);
  rows(rank, copy);
  for (const Shape& shape : kShapes) {
    if (!names.empty() && std::ranges::find(names, shape.name) == names.end()) continue;
    const bool attends = shape.name == "arxiv";
    const Graph g = skewed_graph(shape.name, shape.vertices, shape.arcs, shape.skew, attends);
    print(fmt::format(R"({{"figure": "graph", "name": "{}", "vertices": {}, "arcs": {}, "mostArcs": {}}})",
                      g.name, g.vertices, g.arcs(), g.most()));
    sums(rank, g, copy);
    if (attends) attention(rank, g, copy);
  }
}

}  // namespace
}  // namespace atl

int main(int count, char** words) {
  try {
    atl::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu figures: %s\n", error.what());
    return 1;
  }
}
