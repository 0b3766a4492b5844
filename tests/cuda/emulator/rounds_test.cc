// Rounds that a stream replays as CUDA graphs (tensor/cuda/rounds.h): their results, and when they are
// replayed.
#include "tensor/cuda/rounds.h"

#include <gtest/gtest.h>

#include <functional>

#include "emulated.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "tensor/cuda/stream.h"
#include "tensor/kernels.h"

namespace atl::test {
namespace {

class ReplayedRounds : public testing::Test {
 protected:
  ReplayedRounds() {
    emulated::set_seed(3);
    gpu_.stream->replay_rounds();
    ctx_ = {Device::kCuda, nullptr, &workspace_, gpu_.stream.get()};
    x_.resize(4, 4, Device::kCuda);
    y_.resize(4, 4, Device::kCuda);
  }
  ~ReplayedRounds() override {
    x_ = Matrix(), y_ = Matrix();
    workspace_ = Workspace(Device::kCuda);
    gpu_.stream.reset();
    install_backend(nullptr);
  }
  void round(const std::function<void()>& work) {
    gpu_.stream->begin_round(Round::kStep);
    work();
    gpu_.stream->synchronise();
  }
  /// y = value · 2^(calls − 2)
  void double_up(Real value, int calls) {
    fill(ctx_, value, x_);
    axpby(ctx_, 1, x_, 0, y_);
    for (int i = 2; i < calls; ++i) axpby(ctx_, 0, x_, 2, y_);
  }
  Real y() { return read(ctx_, y_.data() + 15); }
  cuda::ReplayCounts counts() const { return static_cast<cuda::Stream&>(*gpu_.stream).rounds()->counts(); }

  struct Installed {
    Installed() { install_backend(&cuda::backend()); }
  } installed_;
  OpenDevice gpu_ = backend().open(0);
  Workspace workspace_{Device::kCuda};
  Context ctx_;
  Matrix x_, y_;
};

TEST_F(ReplayedRounds, BeginWhenARoundHasComeTwiceAndTakeItsNewArguments) {
  for (int time = 1; time <= 6; ++time) {
    round([&] { double_up(Real(time), 5); });
    EXPECT_EQ(y(), Real(8 * time)) << time;
    EXPECT_EQ(counts().launches, time <= 2 ? 0 : time - 2);
  }
  EXPECT_EQ(counts().captures, 1);
  EXPECT_EQ(counts().replayed, 4 * 5);
  EXPECT_EQ(counts().set, 4) << "the value that is filled in";
}

TEST_F(ReplayedRounds, AreDoneCallByCallWhereTheyDiffer) {
  const int calls[] = {5, 5, 5, 6,
                       4, 5, 5, 5};  // the fourth is longer than its graph, the fifth shorter than the fourth
  for (const int each : calls) {
    round([&] { double_up(1, each); });
    EXPECT_EQ(y(), Real(1 << (each - 2)));
  }
  EXPECT_EQ(counts().launches, 1) << "a segment that has changed three times is left alone";
}

TEST_F(ReplayedRounds, AreDoneCallByCallWhereTheyEndEarly) {
  for (const int each : {5, 5, 5, 4, 4, 4}) {
    round([&] { double_up(1, each); });
    EXPECT_EQ(y(), Real(1 << (each - 2)));
  }
  EXPECT_EQ(counts().launches, 2);
}

TEST_F(ReplayedRounds, CaptureProductsAnewWhereTheirArgumentsDiffer) {
  Matrix other(4, 4, Device::kCuda);
  for (int time = 1; time <= 6; ++time) {
    const MatrixView out = time % 2 == 0 ? other.view() : y_.view();
    round([&] {
      fill(ctx_, Real(time), x_);
      gemm(ctx_, x_, x_, out, false, {});
      axpby(ctx_, 0, x_, 2, out);
      axpby(ctx_, 0, x_, 2, out);
      axpby(ctx_, 0, x_, 2, out);
    });
    EXPECT_EQ(read(ctx_, out.data), Real(8 * 4 * time * time));
  }
  EXPECT_EQ(counts().launches, 4);
  EXPECT_EQ(counts().captures, 1 + 4);
}

/// Algorithms are chosen when a call is given, never within a capture; a bias that lies elsewhere is another
/// call.
TEST_F(ReplayedRounds, ReplayProductsThatAreFinished) {
  Matrix biases(2, 4, Device::kCuda);
  fill(ctx_, 1, biases);
  const emulated::LightCalls before = emulated::light_calls();
  for (int time = 1; time <= 8; ++time) {
    round([&] {
      fill(ctx_, Real(time), x_);
      Epilogue e;
      e.bias = biases.data() + (time > 6 ? 4 : 0);
      e.activation = Activation::kRelu;
      gemm(ctx_, x_, x_, y_, false, e);
      axpby(ctx_, 0, x_, 2, y_);
      axpby(ctx_, 0, x_, 2, y_);
    });
    EXPECT_EQ(y(), Real(4 * (4 * time * time + 1)));
  }
  EXPECT_EQ(counts().launches, 6);
  EXPECT_EQ(counts().captures, sizeof(Real) == sizeof(float) ? 2 : 1);
  EXPECT_EQ(emulated::light_calls().heuristics - before.heuristics, sizeof(Real) == sizeof(float) ? 1 : 0);
}

TEST_F(ReplayedRounds, LeaveShortSegmentsAlone) {
  for (int time = 1; time <= 5; ++time) {
    round([&] {
      double_up(Real(time), 3);
      gpu_.stream->mark();
      double_up(Real(time), 5);
    });
    EXPECT_EQ(y(), Real(8 * time));
  }
  EXPECT_EQ(counts().launches, 3);
  EXPECT_EQ(counts().replayed, 3 * 5);
}

/// What the device itself is asked for comes after all that the stream was given, held back or not.
TEST_F(ReplayedRounds, ComeBeforeMemoryIsGivenBackOrRead) {
  for (int time = 1; time <= 6; ++time) {
    Real got = 0;
    round([&] {
      Matrix passing(4, 4, Device::kCuda);
      fill(ctx_, Real(time), passing);
      axpby(ctx_, 1, passing, 0, x_);
      axpby(ctx_, 1, passing, 0, y_);
      axpby(ctx_, 1, passing, 1, y_);
      if (time % 2 == 0) return;  // `passing` goes
      backend().memory.download(&got, y_.data(), sizeof got);
      EXPECT_EQ(got, Real(2 * time));
    });
    EXPECT_EQ(y(), Real(2 * time));
  }
  EXPECT_GT(counts().launches, 0);
}

TEST_F(ReplayedRounds, OfSeveralKindsAreKeptApart) {
  for (int time = 1; time <= 5; ++time) {
    round([&] { double_up(Real(time), 5); });
    gpu_.stream->begin_round(Round::kEvaluation);
    double_up(Real(time), 7);
    EXPECT_EQ(y(), Real(32 * time));
  }
  EXPECT_EQ(counts().launches, 2 * 3);
}

}  // namespace
}  // namespace atl::test
