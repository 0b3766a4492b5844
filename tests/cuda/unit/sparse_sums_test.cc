// Sums over neighbours by cuSPARSE beside the CPU's, over random shapes: none and one row, hubs, empty rows, rows that lie anywhere, with
// scales, weights, what is there already and what follows.
#include "tensor/cuda/sparse_sums.h"

#include "tensor/cuda/stream.h"
#include "tensor/cuda/table.h"
#include "unique_columns.h"
#include "unit/twins.h"

namespace atl::test {
namespace {

void sums_by_cusparse(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
                      const Epilogue& epilogue) {
  const Index count =
      ctx.device == Device::kCpu || a.csr.rows == 0 ? 0 : read(ctx, a.csr.offsets + a.csr.rows);
  if (count == 0 || count > a.csr.rows * a.csr.cols || out.empty())
    return spmm(ctx, a, x, out, accumulate, epilogue);
  const cuda::SparseHandle handle(*cuda::sparse_library(), cuda::stream_of(ctx).stream());
  const cuda::SparseMatrix matrix(ctx, a, count);
  const auto sums = cuda::SparseSums::make(handle, matrix, x, out, Index(1) << 30, 1);
  ATOLL_CHECK(sums != nullptr, "{} arcs, {} columns", count, out.cols);
  sums->give(ctx, x, out, accumulate);
  cuda::apply(ctx, epilogue, out, out);
  ctx.stream->synchronise();
}

TEST(SumsByCusparse, AreTheCpus) {
  if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "cuSPARSE is asked for float32 alone";
  if (cuda::sparse_library() == nullptr) GTEST_SKIP() << "this machine has no cuSPARSE";
  for (unsigned seed = 100; seed < 148; ++seed) {
    SCOPED_TRACE(testing::Message() << "shape of seed " << seed);
    Twins t(seed);
    RandomSizes sizes(seed);
    const bool many = seed % 4 == 0;
    const Index rows = sizes(90), cols = sizes(many ? 2000 : 70), f = sizes(many ? 70 : 300);
    const int degree = t.draw() % 4 == 0 ? 40 : 5;
    Arcs a{t.csr(without_duplicates(random_graph(t.draw(), rows, cols, degree, t.toss())))};
    if (t.toss()) a.row_scale = t.reals(rows);
    if (t.toss()) a.col_scale = t.reals(cols);
    const Epilogue e = t.toss() ? t.epilogue(rows, f) : Epilogue{};
    const double close = t.within(kSums, e.norm == Epilogue::Norm::kLayer ? kNormsOfHalves : kSums);
    t.expect_alike(close, &sums_by_cusparse, a, t.matrix(cols, f), t.matrix(rows, f), t.toss(), e);
    if (HasFatalFailure()) return;
  }
}

/// Its manual ensures no result then; on an H200 it wrote behind its workspace.
TEST(SumsByCusparse, AreRefusedWhereARowHasAColumnTwice) {
  if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "cuSPARSE is asked for float32 alone";
  if (cuda::sparse_library() == nullptr) GTEST_SKIP() << "this machine has no cuSPARSE";
  GpuRank rank;
  DeviceCopies copies(rank.ctx);
  const cuda::SparseHandle handle(*cuda::sparse_library(), cuda::stream_of(rank.ctx).stream());
  Matrix x(27, 5, Device::kCuda), out(11, 5, Device::kCuda);
  for (const bool twice : {false, true}) {
    TestGraph g = without_duplicates(random_graph(121, 11, 27, 5, false));
    if (twice) g.columns[3] = g.columns[2];
    const Arcs arcs{copies.of(g.view())};
    const cuda::SparseMatrix matrix(rank.ctx, arcs, Index(g.columns.size()));
    EXPECT_EQ(cuda::SparseSums::make(handle, matrix, x, out, Index(1) << 30, 1) == nullptr, twice);
    rank.ctx.stream->synchronise();
  }
}

}  // namespace
}  // namespace atl::test
