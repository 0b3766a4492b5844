// Measures kernels on a data set, after checking their results, against the bounds that memory sets.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/bench.h"
#include "bench/device_rates.h"
#include "graph/csr.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"
#include "tensor/rates.h"

namespace atl {
namespace {

constexpr Index kChecked = 2000;  // rows compared with the reference, spread over all rows

/// The prepared graph in the data set's vertex order: the same arcs, in natural order.
Csr natural_order(const PreparedGraph& prepared) {
  const CsrView graph = prepared.graph();
  const auto ids = prepared.ids();
  Csr natural;
  natural.rows = natural.cols = graph.rows;
  natural.offsets.assign(std::size_t(graph.rows) + 1, 0);
  for (Index r = 0; r < graph.rows; ++r)
    natural.offsets[std::size_t(ids[std::size_t(r)]) + 1] = graph.degree(r);
  for (std::size_t r = 0; r < std::size_t(graph.rows); ++r) natural.offsets[r + 1] += natural.offsets[r];
  natural.columns.resize(std::size_t(graph.arcs()));
  for (Index r = 0; r < graph.rows; ++r) {
    auto* const row = natural.columns.data() + natural.offsets[std::size_t(ids[std::size_t(r)])];
    auto* end = row;
    for (const VertexId c : graph.row(r)) *end++ = ids[std::size_t(c)];
    std::sort(row, end);
  }
  return natural;
}

/// A graph in the host's memory and in the device's. Neither copyable nor movable.
struct PlacedGraph {
  PlacedGraph(Context& ctx, DeviceCopies& copies, const CsrView& graph, const char* order_)
      : order(order_),
        host(graph),
        there(copies.of(graph)),
        has_library(ctx.stream->sum_by_library(true)),
        stays(ctx.stream->keep_arcs({there})) {
    ctx.stream->sum_by_library(false);
  }
  PlacedGraph(const PlacedGraph&) = delete;
  PlacedGraph& operator=(const PlacedGraph&) = delete;

  const char* order;  // of its vertices
  CsrView host, there;
  bool has_library;  // whether cuSPARSE can be timed on this graph, too
  std::shared_ptr<const StayingArcs> stays;
};

/// Who wrote the timed kernels, where not all are ours.
struct Makers {
  explicit Makers(const Context& ctx) {
    if (ctx.device == Device::kCuda) ours = "Atoll", products = "cuBLAS", sums = "cuSPARSE";
  }
  const char *ours = "", *products = "", *sums = "";
};

/// Compares rows of `out` with reference(row, column), in double precision.
template <class F>
void check_rows(const char* what, ConstMatrixView out, double tolerance, F&& reference) {
  const Index step = std::max<Index>(1, out.rows / kChecked);
  for (Index r = 0; r < out.rows; r += step) {
    for (Index c = 0; c < out.cols; ++c) {
      const double wanted = reference(r, c), found = out.at(r, c);
      if (!(std::abs(found - wanted) <= tolerance * std::max(1.0, std::abs(wanted))))
        fail(
            "{}: row {}, column {} is {} instead of {}; this build computes wrong results on this "
            "machine",
            what, r, c, found, wanted);
    }
  }
}

void check_spmm(const CsrView& graph, ConstMatrixView x, ConstMatrixView out) {
  check_rows("spmm", out, 1e-3, [&](Index r, Index c) {
    double sum = 0;
    for (const VertexId j : graph.row(r)) sum += double(x.at(j, c));
    return sum;
  });
}

double spmm_seconds(Context& ctx, const PlacedGraph& graph, const Matrix& x) {
  DeviceCopies copies(ctx);
  const ConstMatrixView x_there = copies.of(x.view());
  Matrix out(graph.host.rows, x.cols(), ctx.device);
  const Arcs arcs{graph.there};
  spmm(ctx, arcs, x_there, out);
  HostRows result;
  check_spmm(graph.host, x, result.of(ctx, out));
  return shortest_seconds(ctx, [&] { spmm(ctx, arcs, x_there, out); });
}

/// A row without a limit. Where the device has a library, it has the library's time beside ours.
BenchRow spmm_row(Context& ctx, const PlacedGraph& graph, const Matrix& x) {
  const Makers makers(ctx);
  BenchRow row{fmt::format("spmm, {} columns, {} order", x.cols(), graph.order), spmm_seconds(ctx, graph, x)};
  row.by = makers.ours;
  if (!graph.has_library) return row;
  ctx.stream->sum_by_library(true);
  row.ways = {{makers.ours, row.seconds}, {makers.sums, spmm_seconds(ctx, graph, x)}};
  ctx.stream->sum_by_library(false);
  return row;
}

void add_spmm(Context& ctx, const PlacedGraph& natural, const PlacedGraph& prepared,
              const MachineRates& rates, Index columns, std::vector<BenchRow>& rows) {
  const Matrix x = random_matrix(ctx, prepared.host.rows, columns, 1);
  const double arcs = double(prepared.host.arcs()), elements = double(x.rows()) * double(columns);
  const double no_reuse = (4 * arcs + sizeof(Real) * (arcs * double(columns) + elements)) / rates.triad_bytes;
  rows.push_back(spmm_row(ctx, natural, x));
  BenchRow& ordered = rows.emplace_back(spmm_row(ctx, prepared, x));
  ordered.limit = no_reuse;
  ordered.formula = "(4E + 4Ef + 4nf) / triad: no reuse";
}

/// A layer's product and its weight gradient, of matrices with as many rows as the graph has vertices.
void add_products(Context& ctx, Index n, const MachineRates& rates, Index columns,
                  std::vector<BenchRow>& rows) {
  const Matrix a = random_matrix(ctx, n, columns, 5), w = random_matrix(ctx, columns, columns, 6);
  DeviceCopies copies(ctx);
  const ConstMatrixView a_there = copies.of(a.view()), w_there = copies.of(w.view());
  Matrix out(n, columns, ctx.device), gradient(columns, columns, ctx.device);
  const auto forward = [&] { gemm(ctx, a_there, w_there, out); };
  const auto backward = [&] { gemm_at(ctx, a_there, {}, out, gradient); };
  forward();
  HostRows result;
  check_rows("product", result.of(ctx, out), 1e-3, [&](Index r, Index c) {
    double sum = 0;
    for (Index k = 0; k < columns; ++k) sum += double(a.at(r, k)) * double(w.at(k, c));
    return sum;
  });
  const double elements = double(n) * double(columns), flops = 2 * elements * double(columns);
  const double limit = 1.2 * (flops / rates.product_flops + 2 * sizeof(Real) * elements / rates.triad_bytes);
  const char *const bound = "1.2 × (2nf² / products + 8nf / triad)", *const by = Makers(ctx).products;
  rows.push_back(
      {fmt::format("product, {} columns", columns), shortest_seconds(ctx, forward), limit, bound, 0, by});
  rows.push_back({fmt::format("weight gradient, {} columns", columns), shortest_seconds(ctx, backward), limit,
                  bound, 0, by});
}

void check_attention(const CsrView& graph, int heads, ConstMatrixView z, ConstMatrixView dst,
                     ConstMatrixView src, double slope, ConstMatrixView out) {
  const Index width = z.cols / heads;
  check_rows("attention", out, 1e-3, [&](Index r, Index c) {
    const Index head = c / width;
    const auto score = [&](VertexId j) {
      const double e = double(dst.at(r, head)) + double(src.at(j, head));
      return e > 0 ? e : slope * e;
    };
    double sum = 0, weighted = 0;
    for (const VertexId j : graph.row(r)) {
      const double weight = std::exp(score(j));
      sum += weight;
      weighted += weight * double(z.at(j, c));
    }
    return sum == 0 ? 0.0 : weighted / sum;
  });
}

void add_attention(Context& ctx, const PlacedGraph& graph, const MachineRates& rates, Index columns,
                   int heads, std::vector<BenchRow>& rows) {
  if (columns % heads != 0)
    fail("--columns {}: is not a multiple of --heads {} (use a multiple)", columns, heads);
  const Index n = graph.host.rows;
  const Matrix z = random_matrix(ctx, n, columns, 2), dst = random_matrix(ctx, n, heads, 3),
               src = random_matrix(ctx, n, heads, 4);
  DeviceCopies copies(ctx);
  const ConstMatrixView z_there = copies.of(z.view()), dst_there = copies.of(dst.view()),
                        src_there = copies.of(src.view());
  Matrix max(n, heads, ctx.device), sum(n, heads, ctx.device), out(n, columns, ctx.device);
  Attention attention;
  attention.arcs = {graph.there};
  attention.heads = heads;
  const Softmaxes softmaxes{{max, sum}, out};
  const auto work = [&] {
    softmax_begin(ctx, softmaxes);
    attention_add(ctx, attention, z_there, dst_there, src_there, softmaxes);
    attention_finish(ctx, softmaxes);
  };
  work();
  HostRows result;
  check_attention(graph.host, heads, z, dst, src, attention.slope, result.of(ctx, out));
  const double bytes = double(graph.host.arcs()) * (4 + sizeof(Real) * double(columns + heads));
  rows.push_back({fmt::format("attention, {} columns, {} heads", columns, heads), shortest_seconds(ctx, work),
                  bytes / (0.6 * rates.gather_bytes), "E (4 + 4f + 4 heads) / 60 % of gather", 0,
                  Makers(ctx).ours});
}

}  // namespace

std::vector<BenchRow> bench_ops(Context& ctx, const PreparedGraph& prepared, const MachineRates& rates,
                                const std::vector<Index>& columns, int heads) {
  const Csr natural = natural_order(prepared);
  CsrView ordered = prepared.graph();
  ordered.weights = nullptr;
  DeviceCopies copies(ctx);
  const PlacedGraph unordered(ctx, copies, natural.view(), "natural"),
      graph(ctx, copies, ordered, "prepared");
  std::vector<BenchRow> rows;
  for (const Index f : columns) add_spmm(ctx, unordered, graph, rates, f, rows);
  for (const Index f : columns) add_products(ctx, ordered.rows, rates, f, rows);
  for (const Index f : columns) add_attention(ctx, graph, rates, f, heads, rows);
  return rows;
}

}  // namespace atl
