// Each candidate for a sum over neighbours or an attention: checked beside the CPU's kernel on a small graph, then timed on large ones,
// one JSON object per line.   candidates [GRAPH…]   (under a minute)
#include "candidates.h"

#include <cmath>

#include "gpu_rank.h"

namespace atl {
namespace {

/// Operands on one device; the same numbers on each.
struct Operands {
  Operands(Context& ctx_, const Graph& g, int heads_, Index width)
      : ctx(ctx_), device(ctx_.device), n(g.vertices), heads(heads_), f(heads_ * width) {
    attention.arcs = {placed(CsrView{n, n, g.offsets.data(), g.columns.data(), nullptr})};
    attention.heads = heads;
    for (const auto& [matrix, cols] : {std::pair{&z, f}, {&d_out, f}, {&dot, Index(heads)}})
      *matrix = random(n, cols, 1 + cols);
    dst = random(n, heads, 3), src = random(n, heads, 4);
    for (const auto& [matrix, cols] : {std::pair{&out, f}, {&d_z, f}, {&max, Index(heads)}})
      *matrix = none(cols);
    for (Matrix* matrix : {&sum, &d_src, &d_dst}) *matrix = none(heads);
  }

  CsrView placed(const CsrView& csr) { return device == Device::kCpu ? csr : copies.of(csr); }
  Matrix random(Index rows, Index cols, Index seed) const {
    Matrix here(rows, cols);
    for (Index i = 0; i < rows * cols; ++i)
      here.data()[i] = Real(std::int32_t(mix32(std::uint32_t(i + seed) * 2654435761u))) * Real(0x1p-31);
    if (device == Device::kCpu) return here;
    Matrix there(rows, cols, device);
    memory_of(device).upload(there.data(), here.data(), std::size_t(here.bytes()));
    return there;
  }
  Matrix none(Index cols) {
    Matrix m(n, cols, device);
    fill(ctx, 7, m);
    return m;
  }
  AttentionOperands attends(const Index* reversed) {
    return {attention, attention.arcs.csr, reversed, z, dst, src, {{max, sum}, out}, dot, d_out, d_z, d_src,
            d_dst};
  }
  Arcs arcs() const { return attention.arcs; }

  Context& ctx;
  Device device;
  DeviceCopies copies{ctx};
  Index n;
  int heads;
  Index f;
  Attention attention;
  Matrix z, d_out, dot, dst, src, out, d_z, max, sum, d_src, d_dst;
};

/// The CPU, which is right.
struct Reference {
  ThreadPool pool{8};
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
};

/// Largest difference from `right`, relative to 1 + its size.
double apart(Context& ctx, const Matrix& got, const Matrix& right) {
  const std::size_t count = std::size_t(right.rows() * right.cols());
  const std::vector<Real> values = read(ctx, std::span<const Real>(got.data(), count));
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double d =
        std::abs(double(values[i]) - double(right.data()[i])) / (1 + std::abs(double(right.data()[i])));
    most = d <= most ? most : d;  // NaN stays
  }
  return most;
}

using Written = std::vector<std::pair<const Matrix*, const Matrix*>>;  // the GPU's, the CPU's

/// Whether all of them come to what the CPU has.
bool all_right(GpuRank& rank, const std::string& what, const Candidates& all, const Written& written,
               const std::function<void()>& reset) {
  bool good = true;
  for (const Candidate& each : all) {
    if (!each.whole) continue;
    reset();
    each.run(rank.ctx);
    double most = 0;
    for (const auto& [got, right] : written) {
      const double d = apart(rank.ctx, *got, *right);
      most = d <= most ? most : d;
    }
    if (most < 2e-3) continue;
    print(fmt::format(R"({{"check": "{}", "candidate": "{}", "apart": {:.3g}}})", what, each.name, most));
    good = false;
  }
  return good;
}

void check(GpuRank& rank, int heads, Index width) {
  const Graph g = skewed_graph("small", 6000, 90000, 3, true);
  Reference cpu;
  DeviceCopies copies(rank.ctx);
  Operands here(cpu.ctx, g, heads, width), there(rank.ctx, g, heads, width);
  const auto reset = [&] {
    fill(rank.ctx, 7, there.out), fill(rank.ctx, 7, there.d_z), fill(rank.ctx, 0, there.d_dst);
  };
  spmm(cpu.ctx, here.arcs(), here.z, here.out);
  bool good = all_right(rank, "spmm", spmm_candidates(there.arcs().csr, there.z, there.out),
                        {{&there.out, &here.out}}, reset);
  good &=
      all_right(rank, "spmm", sparse_candidates(rank.ctx, g.offsets, there.arcs().csr, there.z, there.out),
                {{&there.out, &here.out}}, reset);
  const AttentionOperands a = here.attends(g.reversed.data()),
                          b = there.attends(copies.of(std::span<const Index>(g.reversed)).data());
  softmax_begin(cpu.ctx, a.softmaxes);
  attention_add(cpu.ctx, a.a, a.z, a.dst_score, a.src_score, a.softmaxes);
  attention_finish(cpu.ctx, a.softmaxes);
  fill(cpu.ctx, 0, here.d_dst);
  attention_backward(cpu.ctx, a.a, a.transpose, a.transpose_arc, a.z, a.dst_score, a.src_score,
                     a.softmaxes.state, a.dot, a.d_out, a.d_z, a.d_src_score, a.d_dst_score);
  good &= all_right(rank, "attention", attention_candidates(b),
                    {{&there.out, &here.out}, {&there.max, &here.max}, {&there.sum, &here.sum}}, reset);
  good &=
      all_right(rank, "attention backward", attention_backward_candidates(b),
                {{&there.d_z, &here.d_z}, {&there.d_src, &here.d_src}, {&there.d_dst, &here.d_dst}}, reset);
  print(
      fmt::format(R"({{"check": "candidates", "heads": {}, "width": {}, "right": {}}})", heads, width, good));
}

void time(GpuRank& rank, const std::string& what, const Graph& g, const std::string& shape,
          const Candidates& all) {
  for (const Candidate& each : all)
    print(fmt::format(R"({{"candidate": "{}", "figure": "{}", "graph": "{}", "shape": "{}", "ms": {:.4f}}})",
                      each.name, what, g.name, shape, rank.seconds([&] { each.run(rank.ctx); }) * 1e3));
}

void time_sums(GpuRank& rank, const Graph& g) {
  PlacedGraph placed(rank, g);
  for (const Index f : {16, 40, 64, 100, 128, 256}) {
    const Matrix x = random_matrix(g.vertices, f);
    Matrix out(g.vertices, f, Device::kCuda);
    time(rank, "spmm", g, std::to_string(f), sparse_candidates(rank.ctx, g.offsets, placed.csr, x, out));
    time(rank, "spmm", g, std::to_string(f), spmm_candidates(placed.csr, x, out));
  }
}

void time_attention(GpuRank& rank, const Graph& g) {
  DeviceCopies copies(rank.ctx);
  const Index* const reversed = copies.of(std::span<const Index>(g.reversed)).data();
  for (const auto& [heads, width] : {std::pair{4, 64}, {8, 8}, {1, 128}, {4, 40}}) {
    Operands there(rank.ctx, g, heads, width);
    const AttentionOperands a = there.attends(reversed);
    const std::string shape = fmt::format("{} x {}", heads, width);
    time(rank, "attention", g, shape, attention_candidates(a));
    time(rank, "attention backward", g, shape, attention_backward_candidates(a));
  }
}

/// arxiv's size, and Reddit's with a third of its arcs.
void run(const std::vector<std::string>& names) {
  GpuRank rank;
  const auto wanted = [&](const char* name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  for (const auto& [heads, width] : {std::pair{4, 4}, {1, 40}, {8, 8}, {1, 100}, {1, 128}, {4, 40}, {4, 64}})
    if (wanted("small")) check(rank, heads, width);
  if (wanted("arxiv")) {
    const Graph g = skewed_graph("arxiv", 169343, 2332486, 2.2, true);
    time_attention(rank, g);
    time_sums(rank, g);
  }
  if (wanted("reddit")) time_sums(rank, skewed_graph("reddit", 232965, 38205296, 1.6));
}

}  // namespace
}  // namespace atl

int main(int count, char** words) {
  try {
    atl::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "candidates: %s\n", error.what());
    return 1;
  }
}
