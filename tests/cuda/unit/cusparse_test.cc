// Sums over neighbours by cuSPARSE held to the reference, over random shapes: none and one row, hubs, empty
// rows, rows at any address, with scales, weights, a sum to add to and an epilogue.
#include "tensor/cuda/cusparse_library.h"

#include "tensor/cases/trial.h"
#include "unique_columns.h"
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

void sums_by_cusparse(Context& ctx, const Arcs& a, ConstMatrixView x, MatrixView out, bool accumulate,
                      const Epilogue& epilogue) {
  ctx.stream->sum_by_library(true);
  const auto kept = ctx.stream->keep_arcs(a);
  spmm(ctx, a, x, out, accumulate, epilogue);
  ctx.stream->synchronise();
  ctx.stream->sum_by_library(false);
}

class SumsByCusparse : public testing::Test {
 protected:
  void SetUp() override {
    if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "cuSPARSE is asked for float32 alone";
    if (cuda::sparse_library() == nullptr) GTEST_SKIP() << "this machine has no cuSPARSE";
  }
};

TEST_F(SumsByCusparse, AreSumsOverNeighbours) {
  GpuRank rank;
  for (unsigned seed = 100; seed < 148; ++seed) {
    SCOPED_TRACE(testing::Message() << "shape of seed " << seed);
    Trial t(rank.ctx, seed);
    RandomSizes sizes(seed);
    const bool many = seed % 4 == 0;
    const Index rows = sizes(90), cols = sizes(many ? 2000 : 70), f = sizes(many ? 70 : 300);
    const int degree = t.draw() % 4 == 0 ? 40 : 5;
    Arcs a{t.csr(without_duplicates(random_graph(t.draw(), rows, cols, degree, t.toss())))};
    if (t.toss()) a.row_scale = t.reals(rows);
    if (t.toss()) a.col_scale = t.reals(cols);
    const Epilogue e = t.toss() ? t.epilogue(rows, f) : Epilogue{};
    t.may_differ(kSums, e.norm == Epilogue::Norm::kLayer ? kNormsOfHalves : kSums);
    t.expect(&sums_by_cusparse, &reference::spmm, a, t.matrix(cols, f), t.matrix(rows, f), t.toss(), e);
    if (HasFatalFailure()) return;
  }
}

/// Its manual ensures no result then; on an H200 it wrote behind its workspace. They are our own kernels'.
TEST_F(SumsByCusparse, AreRightWhereARowHasAColumnTwice) {
  GpuRank rank;
  for (unsigned seed = 121; seed < 125; ++seed) {
    Trial t(rank.ctx, seed);
    TestGraph g = without_duplicates(random_graph(seed, 11, 27, 5, false));
    g.columns[3] = g.columns[2];
    const Arcs a{t.csr(std::move(g))};
    t.may_differ(kSums);
    t.expect(&sums_by_cusparse, &reference::spmm, a, t.matrix(27, 5), t.matrix(11, 5), false, Epilogue{});
  }
}

}  // namespace
}  // namespace atl::test
