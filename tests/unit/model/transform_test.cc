// Rows that several products read are dropped out once; the products' gradients add up, each under its own
// mask.
#include "model/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace atl {
namespace {

Matrix waves(Index rows, Index cols, double step) {
  Matrix m(rows, cols);
  for (Index i = 0; i < rows * cols; ++i) m.data()[i] = Real(std::sin(double(i) * step));
  return m;
}

class Transform : public testing::Test {
 protected:
  static constexpr Index kRows = 9000, kIn = 64, kOut = 5;  // several pieces of what is added

  Transform() { std::iota(ids_.begin(), ids_.end(), 100); }
  Dropout half() const { return {0.5, Draws(7, Purpose::kDropout, 3, 1), ids_}; }

  ThreadPool pool_{2};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  std::vector<VertexId> ids_ = std::vector<VertexId>(kRows);
};

TEST_F(Transform, TheMaskIsThatOfTheProductAndNotOfWhatItIsAddedTo) {
  const Matrix d_out = waves(kRows, kOut, 0.37), w = waves(kIn, kOut, 0.91), before = waves(kRows, kIn, 0.53);
  Matrix alone(kRows, kIn);
  rows_backward(ctx_, half(), w, d_out, alone);
  Matrix added = before.clone();
  rows_backward(ctx_, half(), w, d_out, added, true);
  Index dropped = 0;
  for (Index i = 0; i < kRows * kIn; ++i) {
    ASSERT_EQ(added.data()[i], before.data()[i] + alone.data()[i]) << "element " << i;
    dropped += alone.data()[i] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(double(dropped), 0.5 * kRows * kIn, 0.02 * kRows * kIn);
}

TEST_F(Transform, OwnRowsAreDroppedOutOnceAndOthersByWhoeverReadsThem) {
  const Matrix own = waves(kRows, kIn, 0.11), others = waves(kRows, kIn, 0.23);
  Matrix expected(kRows, kIn);
  dropout(ctx_, half(), own, expected);
  OwnRows shared(ctx_, ConstMatrixView(own));
  const OwnRows::Due first = shared.due(ConstMatrixView(own), half());
  EXPECT_FALSE(first.dropout);
  for (Index i = 0; i < kRows * kIn; ++i) ASSERT_EQ(first.rows.dense.data[i], expected.data()[i]);
  EXPECT_EQ(shared.due(ConstMatrixView(own), half()).rows.dense.data, first.rows.dense.data);
  const OwnRows::Due other = shared.due(ConstMatrixView(others), half());
  EXPECT_EQ(other.rows.dense.data, others.data());
  EXPECT_TRUE(other.dropout);
  EXPECT_EQ(shared.due(ConstMatrixView(own), {}).rows.dense.data, own.data()) << "in evaluation";
}

}  // namespace
}  // namespace atl
