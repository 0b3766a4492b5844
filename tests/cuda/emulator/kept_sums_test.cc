// Which way sums over arcs that stay are computed (tensor/cuda/kept_sums.h): measured once by the stream's clock, kept, and forgotten with
// the arcs.
#include "tensor/cuda/kept_sums.h"

#include <gtest/gtest.h>

#include <optional>

#include "emulated.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "train/temporary_folder.h"
#include "unique_columns.h"

namespace atl::test {
namespace {

constexpr Index kRows = 24, kCols = 30, kWidth = 6;
constexpr std::int64_t kMeasured = 1 + 3 * 4;  // products of a measurement

class KeptSumsOnTheGpu : public testing::Test {
 protected:
  KeptSumsOnTheGpu() {
    emulated::set_seed(5);
    emulated::set_free_bytes(std::size_t(1) << 30);
    emulated::let_products_take(0.5);
    begin_run();
  }
  ~KeptSumsOnTheGpu() override {
    end_run();
    install_backend(nullptr);
    emulated::set_free_bytes(0);
    emulated::let_products_take(1);
    emulated::offer_cusparse(true);
  }
  void SetUp() override {
    if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "sums of float64 are our own kernels'";
  }

  /// A program, which finds what is in the folder.
  void begin_run(bool replays = false) {
    install_backend(&cuda::backend());
    gpu_ = backend().open(0);
    if (replays) gpu_.stream->replay_rounds();
    ctx_ = {Device::kCuda, nullptr, &workspace_, gpu_.stream.get()};
    copies_.emplace(ctx_);
    choices_.emplace(folder_.path(), 0);
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
  void keep(const char* name = "graph") { kept_ = gpu_.stream->keep_arcs(arcs_, *choices_, name); }

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
    spmm(ctx_, arcs_, x_, out_);  // first, so that choosing cuts nothing in two
    for (int i = 0; i < 4; ++i) axpby(ctx_, 0, out_, 1, out_);
    gpu_.stream->synchronise();
    expect_right();
  }
  const SumChoice& only_choice() {
    EXPECT_EQ(choices_->all().size(), 1U);
    return choices_->all().begin()->second;
  }

  TemporaryFolder folder_;
  OpenDevice gpu_;
  Workspace workspace_{Device::kCuda};
  Context ctx_;
  std::optional<DeviceCopies> copies_;
  std::optional<SumChoices> choices_;
  std::shared_ptr<const StayingArcs> kept_;
  const Matrix scales_here_ = random_matrix(3, 1, kCols, 0.5, 1.5);
  TestGraph graph_;
  Arcs arcs_;
  Matrix here_, scales_, x_, out_;
};

const Epilogue kRelu{.activation = Activation::kRelu};

TEST_F(KeptSumsOnTheGpu, TakeTheFasterWayFromThenOn) {
  keep();
  EXPECT_EQ(products_of(), kMeasured + 1);
  expect_right();
  EXPECT_EQ(products_of(), 1);
  expect_right();
  EXPECT_EQ(only_choice(), (SumChoice{1, 0.5, true}));
}

TEST_F(KeptSumsOnTheGpu, AreOurKernelsWhereTheLibraryIsSlowerOrNearlyAsFast) {
  for (const double product : {2.0, 1.0, 0.97}) {
    emulated::let_products_take(product);
    choices_.emplace();
    keep();
    EXPECT_EQ(products_of(), kMeasured) << product;
    expect_right();
    EXPECT_EQ(products_of(), 0) << product;
    EXPECT_FALSE(only_choice().takes_library);
    kept_.reset();
  }
  emulated::let_products_take(0.94);
  choices_.emplace();
  keep();
  EXPECT_EQ(products_of(), kMeasured + 1);
}

TEST_F(KeptSumsOnTheGpu, CountThePassThatTheLibraryNeedsForWhatFollows) {
  keep();
  EXPECT_EQ(products_of(false, kRelu), kMeasured);
  expect_right(false, true);
  EXPECT_EQ(only_choice(), (SumChoice{1, 1.5, false}));
  choices_.emplace(), kept_.reset(), keep();
  EXPECT_EQ(products_of(false, {.norm = Epilogue::Norm::kLayer}), kMeasured + 1);
  EXPECT_EQ(only_choice(), (SumChoice{2, 1.5, true})) << "a norm over rows is a pass of its own either way";
}

TEST_F(KeptSumsOnTheGpu, AreMeasuredBesideWhatIsAddedTo) {
  keep();
  EXPECT_EQ(products_of(true), kMeasured + 1);
  expect_right(true);
  EXPECT_EQ(products_of(), kMeasured + 1) << "another kind";
  expect_right();
  EXPECT_EQ(products_of(true), 1);
  expect_right(true);
  emulated::let_products_take(3);
  kept_.reset(), choices_.emplace(), keep();
  EXPECT_EQ(products_of(true), kMeasured);
  expect_right(true);
}

TEST_F(KeptSumsOnTheGpu, AreTheSameInALaterRun) {
  keep();
  products_of();
  const std::vector<Real> first = result();
  end_run(), begin_run();
  emulated::let_products_take(9);
  keep();
  EXPECT_EQ(products_of(), 1) << "measured now, it would be our kernels'";
  EXPECT_EQ(result(), first);
  kept_.reset(), keep("another");
  EXPECT_EQ(products_of(), kMeasured) << "of arcs that weren't measured yet";
}

TEST_F(KeptSumsOnTheGpu, OfOtherArcsAndScalesAreOurKernels) {
  EXPECT_EQ(products_of(), 0) << "nobody has told the stream of them";
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

TEST_F(KeptSumsOnTheGpu, AreForgottenWithTheirArcs) {
  keep();
  EXPECT_EQ(products_of(), kMeasured + 1);
  const Index* const offsets = arcs_.csr.offsets;
  kept_.reset();
  EXPECT_EQ(products_of(), 0);
  place(2);
  ASSERT_EQ(arcs_.csr.offsets, offsets) << "the same memory again";
  EXPECT_EQ(products_of(), 0);
  expect_right();
  keep("others");
  EXPECT_EQ(products_of(), kMeasured + 1);
  expect_right();
  EXPECT_EQ(choices_->all().size(), 2U);
}

TEST_F(KeptSumsOnTheGpu, OutliveTheirStreamUnharmed) {
  keep();
  products_of();
  gpu_.stream.reset();
  kept_.reset();
}

TEST_F(KeptSumsOnTheGpu, AreOurKernelsWithoutMemoryToSpare) {
  emulated::set_free_bytes(4096);
  keep();
  EXPECT_EQ(products_of(), 0);
  expect_right();
  EXPECT_TRUE(choices_->all().empty()) << "a later run may have more";
}

TEST_F(KeptSumsOnTheGpu, AreOurKernelsWithoutTheLibrary) {
  emulated::offer_cusparse(false);
  keep();
  EXPECT_EQ(kept_, nullptr);
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(KeptSumsOnTheGpu, AreOurKernelsWhereNoLaterRunWouldKnow) {
  choices_.emplace(folder_ / "gone", 0);
  keep();
  EXPECT_EQ(products_of(), kMeasured) << "so much for the folder";
  EXPECT_EQ(products_of(true), 0);
  expect_right(true);
}

TEST_F(KeptSumsOnTheGpu, WithoutArcsAreOurKernels) {
  graph_ = {kRows, kCols, std::vector<Index>(std::size_t(kRows) + 1, 0), {}, {}, {}};
  copies_->restart();
  arcs_ = {copies_->of(graph_.view())};
  keep();
  EXPECT_EQ(products_of(), 0);
  expect_right();
}

TEST_F(KeptSumsOnTheGpu, AreReplayedWithinRounds) {
  end_run(), begin_run(true);
  keep();
  const auto& rounds = *static_cast<cuda::Stream&>(*gpu_.stream).rounds();
  for (int time = 1; time <= 6; ++time) expect_right_round();
  EXPECT_GE(rounds.counts().launches, 3);
  EXPECT_TRUE(only_choice().takes_library);
  // Others in the same memory: what was captured for the first ones is not replayed.
  kept_.reset();
  place(2);
  keep("others");
  for (int time = 1; time <= 6; ++time) expect_right_round();
}

}  // namespace
}  // namespace atl::test
