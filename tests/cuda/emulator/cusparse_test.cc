// Sums by cuSPARSE, requested by name, over arcs that stay (tensor/cuda/cusparse.h): analysed once per width,
// and forgotten with the arcs.
#include "tensor/cuda/cusparse.h"

#include <gtest/gtest.h>

#include <optional>

#include "emulated.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "unique_columns.h"

namespace atl::test {
namespace {

constexpr Index kRows = 24, kCols = 30, kWidth = 6;

class ArcsForCusparse : public testing::Test {
 protected:
  ArcsForCusparse() {
    emulated::set_seed(5);
    begin_run();
  }
  ~ArcsForCusparse() override {
    end_run();
    install_backend(nullptr);
    emulated::offer_cusparse(true);
  }
  void SetUp() override {
    if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "sums of float64 are our own kernels'";
  }

  void begin_run(bool replays = false) {
    install_backend(&cuda::backend());
    gpu_ = backend().open(0);
    if (replays) gpu_.stream->replay_rounds();
    ctx_ = {Device::kCuda, nullptr, &workspace_, gpu_.stream.get()};
    copies_.emplace(ctx_);
    scales_.resize(1, kCols, Device::kCuda);
    gpu_.stream->upload(scales_.data(), scales_here_.data(), std::size_t(scales_.bytes()));
    place(1);
  }
  void end_run() {
    kept_.reset(), copies_.reset();
    x_ = Matrix(), out_ = Matrix(), scales_ = Matrix();
    workspace_ = Workspace(Device::kCuda);
    gpu_.stream.reset();
  }
  /// Arcs, and rows to be added up. Again: other ones in the same memory.
  void place(unsigned seed, bool weighted = true) {
    graph_ = without_duplicates(random_graph(seed, kRows, kCols, 5, weighted));
    copies_->restart();
    arcs_ = {copies_->of(graph_.view()), nullptr, scales_.data()};
    here_ = random_matrix(seed, kCols, kWidth);
    x_.resize(kCols, kWidth, Device::kCuda), out_.resize(kRows, kWidth, Device::kCuda);
    gpu_.stream->upload(x_.data(), here_.data(), std::size_t(here_.bytes()));
  }
  void keep() {
    EXPECT_TRUE(gpu_.stream->sum_by_library(true));
    kept_ = gpu_.stream->keep_arcs(arcs_);
  }

  /// How many products cuSPARSE has made of a sum.
  std::int64_t products_of(bool accumulate = false, const Epilogue& epilogue = {}) {
    const std::int64_t before = emulated::cusparse_products();
    if (accumulate) fill(ctx_, 1, out_);
    spmm(ctx_, arcs_, x_, out_, accumulate, epilogue);
    gpu_.stream->synchronise();
    return emulated::cusparse_products() - before;
  }
  std::vector<Real> result() {
    return read(ctx_, std::span<const Real>(out_.data(), std::size_t(kRows * kWidth)));
  }
  void expect_right(bool accumulate = false, bool relu = false) {
    const std::vector<Real> got = result();
    const bool scaled = arcs_.col_scale != nullptr;
    expect_near({got.data(), kRows, kWidth}, [&](Index r, Index c) {
      double sum = accumulate ? 1 : 0;
      for (Index e = graph_.offsets[std::size_t(r)]; e < graph_.offsets[std::size_t(r) + 1]; ++e) {
        const auto source = std::size_t(graph_.columns[std::size_t(e)]);
        sum += double(graph_.weights.empty() ? 1 : graph_.weights[std::size_t(e)]) *
               (scaled ? double(scales_here_.data()[source]) : 1.0) * double(here_.at(Index(source), c));
      }
      return relu ? std::max(sum, 0.0) : sum;
    });
  }
  void expect_right_round() {
    gpu_.stream->begin_round(Round::kStep);
    spmm(ctx_, arcs_, x_, out_);  // first, so that the analysis cuts nothing in two
    for (int i = 0; i < 4; ++i) axpby(ctx_, 0, out_, 1, out_);
    gpu_.stream->synchronise();
    expect_right();
  }

  OpenDevice gpu_;
  Workspace workspace_{Device::kCuda};
  Context ctx_;
  std::optional<DeviceCopies> copies_;
  std::shared_ptr<const StayingArcs> kept_;
  const Matrix scales_here_ = random_matrix(3, 1, kCols, 0.5, 1.5);
  TestGraph graph_;
  Arcs arcs_;
  Matrix here_, scales_, x_, out_;
};

TEST_F(ArcsForCusparse, AreThoseOfArcsThatAreKept) {
  EXPECT_EQ(products_of(), 0) << "nobody has asked for it";
  keep();
  EXPECT_EQ(products_of(), 1);
  expect_right();
  EXPECT_EQ(products_of(true), 1);
  expect_right(true);
  EXPECT_EQ(products_of(false, {.activation = Activation::kRelu}), 1);
  expect_right(false, true);
  EXPECT_EQ(products_of(false, {.norm = Epilogue::Norm::kLayer}), 1);
  gpu_.stream->sum_by_library(false);
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(ArcsForCusparse, OfOtherArcsAndScalesAreOurKernels) {
  keep();
  const Real* const scales = arcs_.col_scale;
  arcs_.col_scale = nullptr;
  EXPECT_EQ(products_of(), 0) << "other scales, which nobody says will stay";
  expect_right();
  arcs_.row_scale = scales;
  EXPECT_EQ(products_of(), 0);
  arcs_ = {arcs_.csr, nullptr, scales};
  arcs_.csr.weights = nullptr;
  EXPECT_EQ(products_of(), 0);
}

TEST_F(ArcsForCusparse, AreForgottenWithTheirArcs) {
  keep();
  EXPECT_EQ(products_of(), 1);
  const Index* const offsets = arcs_.csr.offsets;
  kept_.reset();
  EXPECT_EQ(products_of(), 0);
  place(2);
  ASSERT_EQ(arcs_.csr.offsets, offsets) << "the same memory again";
  EXPECT_EQ(products_of(), 0);
  expect_right();
  keep();
  EXPECT_EQ(products_of(), 1);
  expect_right();
}

TEST_F(ArcsForCusparse, OutliveTheirStreamUnharmed) {
  keep();
  products_of();
  gpu_.stream.reset();
  kept_.reset();
}

TEST_F(ArcsForCusparse, AreOurKernelsWithoutTheLibrary) {
  emulated::offer_cusparse(false);
  EXPECT_FALSE(gpu_.stream->sum_by_library(true));
  EXPECT_EQ(gpu_.stream->keep_arcs(arcs_), nullptr);
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(ArcsForCusparse, WithoutArcsAreOurKernels) {
  graph_ = {kRows, kCols, std::vector<Index>(std::size_t(kRows) + 1, 0), {}, {}, {}};
  copies_->restart();
  arcs_ = {copies_->of(graph_.view())};
  keep();
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(ArcsForCusparse, OfARowWithAColumnTwiceAreOurKernels) {
  std::size_t row = 0;
  while (graph_.offsets[row + 1] - graph_.offsets[row] < 2) ++row;
  const auto first = std::size_t(graph_.offsets[row]);
  graph_.columns[first + 1] = graph_.columns[first];
  copies_->restart();
  arcs_ = {copies_->of(graph_.view()), nullptr, scales_.data()};
  keep();
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(ArcsForCusparse, AreReplayedWithinRounds) {
  end_run(), begin_run(true);
  keep();
  const auto& rounds = *static_cast<cuda::Stream&>(*gpu_.stream).rounds();
  for (int time = 1; time <= 6; ++time) expect_right_round();
  EXPECT_GE(rounds.counts().launches, 3);
  // Others in the same memory: what was captured for the first ones is not replayed.
  kept_.reset();
  place(2);
  keep();
  for (int time = 1; time <= 6; ++time) expect_right_round();
}

}  // namespace
}  // namespace atl::test
