// Products with their epilogues, which a library may compute within the product: every epilogue is held to
// the reference, in float32 and in halves, for aligned views and others. A NaN that ReLU may have hidden is
// found.
#include <limits>

#include "tensor/cases/trial.h"
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

struct Finish {
  const char* name;
  bool bias;
  Activation activation = Activation::kNone;
  bool drops = false, adds = false;
};
constexpr Finish kFinishes[] = {{"nothing", false},
                                {"bias", true},
                                {"bias and ReLU", true, Activation::kRelu},
                                {"ReLU", false, Activation::kRelu},
                                {"bias and ELU", true, Activation::kElu},
                                {"bias, ReLU and dropout", true, Activation::kRelu, true},
                                {"bias and residual", true, Activation::kNone, false, true}};

struct Shape {
  Index n, k, m;
};
constexpr Shape kShapes[] = {{0, 5, 3},    {1, 1, 1},   {7, 0, 5},   {33, 7, 1},
                             {64, 16, 40}, {3, 300, 2}, {41, 13, 31}};

/// a and out: Reals where the seed is even, of others some in halves.
void expect_finished(Context& ctx, unsigned seed, const Shape& shape, const Finish& finish, bool accumulate) {
  SCOPED_TRACE(testing::Message() << finish.name << ", " << shape.n << " x " << shape.k << " x " << shape.m
                                  << ", seed " << seed << (accumulate ? ", accumulated" : ""));
  Trial t(ctx, seed);
  if (seed % 4 >= 2) t.alike();
  Epilogue e;
  if (finish.bias) e.bias = t.reals(shape.m + 3) + (seed % 4 >= 2 ? 0 : t.draw() % 4);
  e.activation = finish.activation;
  if (finish.drops) e.dropout = t.dropout(shape.n);
  if (finish.adds) e.residual = t.values(shape.n, shape.m);
  const ConstMatrixView a = t.values(shape.n, shape.k), w = t.matrix(shape.k, shape.m);
  t.may_differ(kSums, kHalves);
  t.expect(&gemm, &reference::gemm, a, w, t.values(shape.n, shape.m), accumulate, e);
}

TEST(FinishedProducts, AreProductsWithTheirEpilogue) {
  GpuRank rank;
  unsigned seed = 0;
  for (const Finish& finish : kFinishes)
    for (const Shape& shape : kShapes)
      for (int time = 0; time < 4; ++time, ++seed) {
        expect_finished(rank.ctx, seed, shape, finish, seed / 4 % 2 == 0);
        if (testing::Test::HasFatalFailure()) return;
      }
}

constexpr Index kN = 24, kWidth = 16;
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// A layer with bias and ReLU, there and back.
struct NanLayer {
  explicit NanLayer(Storage storage)
      : a(kN, kWidth, Device::kCuda),
        w(kWidth, kWidth, Device::kCuda),
        bias(1, kWidth, Device::kCuda),
        y(kN, kWidth, Device::kCuda),
        d(kN, kWidth, Device::kCuda),
        d_a(kN, kWidth, Device::kCuda),
        d_w(kWidth, kWidth, Device::kCuda) {
    rows = {a.data(), kN, kWidth, storage};
    out = {y.data(), kN, kWidth, storage};
    d_out = {d.data(), kN, kWidth, storage};
    d_rows = {d_a.data(), kN, kWidth, storage};
    fill(rank.ctx, 1, rows), fill(rank.ctx, Real(0.5), w), fill(rank.ctx, 1, bias), fill(rank.ctx, 1, d_out);
  }
  void there_and_back() {
    Epilogue e;
    e.bias = bias.data();
    e.activation = Activation::kRelu;
    gemm(rank.ctx, rows, w, out, false, e);
    apply_backward(rank.ctx, e, {}, out, d_out, {});
    gemm_at(rank.ctx, rows, {}, d_out, d_w);
    gemm_bt(rank.ctx, d_out, w, d_rows);
  }
  /// Whether any of them isn't a number.
  bool has_nan(MatrixView of) {
    Matrix reals(of.rows, of.cols, Device::kCuda), here(of.rows, of.cols);
    axpby(rank.ctx, 1, of, 0, reals);
    read(rank.ctx, reals.data(), here.data(), std::size_t(here.bytes()));
    return std::any_of(here.data(), here.data() + of.rows * of.cols, [](Real v) { return std::isnan(v); });
  }

  GpuRank rank;
  Matrix a, w, bias, y, d, d_a, d_w;
  MatrixView rows, out, d_out, d_rows;
};

TEST(FinishedProducts, ShowANanOfTheRowsInTheWeightsGradient) {
  for (const Storage storage : {Storage::kReals, Storage::kHalves}) {
    NanLayer layer(storage);
    fill(layer.rank.ctx, kNan, layer.rows.slice_rows(3, 1).slice_cols(5, 1));
    layer.there_and_back();
    EXPECT_TRUE(layer.has_nan(layer.d_w));
  }
}

TEST(FinishedProducts, ShowANanOfTheWeightsInTheRowsGradient) {
  for (const Storage storage : {Storage::kReals, Storage::kHalves}) {
    NanLayer layer(storage);
    fill(layer.rank.ctx, kNan, MatrixView(layer.w).slice_rows(2, 1).slice_cols(7, 1));
    layer.there_and_back();
    EXPECT_TRUE(layer.has_nan(layer.d_rows));
  }
}

}  // namespace
}  // namespace atl::test
