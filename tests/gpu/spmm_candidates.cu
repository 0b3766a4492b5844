// Sums over neighbours: lanes of a row, columns of a lane, rows on their way together, columns that are gathered from together.
#include "before/before.h"
#include "candidates.h"
#include "tensor/cuda/sum_of_rows.h"
#include "tensor/cuda/table.h"

namespace atl {
namespace {

using namespace cuda;

struct Sums {
  CsrView csr;
  ConstMatrixView x;
  MatrixView out;
  Candidates all;

  /// `slice` columns at a time, of which a lane has 4 · C; groups of at least 2^fewest lanes.
  template <int C, int kMost, int kRoom, bool kOnce = false>
  void add(Index slice, int fewest) {
    const Index width = std::min(slice, x.cols);
    const int columns = lanes_for(blocks_for(width, 4 * C)), log = std::max(columns, fewest);
    const Index parts = blocks_for(x.cols, Index(4 * C) << columns);
    const ArcShape shape{csr.rows, parts, false, log, csr.cols};
    simd::Spmm s = sum_of_rows(Arcs{csr}, x, out, false, {});
    s.offsets = csr.offsets, s.columns = csr.columns;
    const Index cols = x.cols;
    all.push_back(
        {fmt::format("{} lanes of {}, {} packs, {} rows, room {}, slices of {}{}", 1 << columns, 1 << log, C,
                     kMost, kRoom, std::min(Index(4 * C) << columns, cols), kOnce ? ", once" : ""),
         [=](Context& ctx) {
           for_arcs(ctx, SumOfRows<4, C, Values::kNone, kMost, kRoom, kOnce>{s, cols, columns}, shape);
         }});
  }
};

}  // namespace

Candidates spmm_candidates(const CsrView& csr, ConstMatrixView x, MatrixView out) {
  Sums sums{csr, x, out, {}};
  sums.all.push_back({"before", [=](Context& ctx) { before::spmm(ctx, {csr}, x, out, false, {}); }});
  sums.all.push_back({"now", [=](Context& ctx) { cuda::spmm(ctx, {csr}, x, out, false, {}); }});
  for (const int fewest : {2, 3, 4, 5}) {
    if (fewest > lanes_for(x.cols / 4) && fewest > 4) continue;
    sums.add<1, 4, 16>(128, fewest);
    sums.add<1, 8, 16>(128, fewest);
    sums.add<1, 8, 20>(128, fewest);
    if (x.cols <= 64) sums.add<2, 4, 14>(128, fewest);
  }
  for (const Index slice : {16, 32, 64, 128}) {
    if (slice >= 2 * x.cols) continue;
    sums.add<1, 8, 16, true>(slice, 4);
    if (x.cols > slice) sums.add<1, 8, 16>(slice, 4);
    if (x.cols > slice) sums.add<1, 8, 16, true>(slice, 3);
  }
  if (x.cols > 64) sums.add<2, 4, 14>(128, 4);
  if (x.cols > 64) sums.add<2, 8, 8>(128, 4);
  if (x.cols > 128) sums.add<2, 4, 14>(256, 4);
  if (x.cols > 128) sums.add<2, 8, 8>(256, 4);
  return sums.all;
}

}  // namespace atl
