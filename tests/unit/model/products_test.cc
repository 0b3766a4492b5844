// A layer that sends its products: those of boundary rows are ready when the gather begins, others may still
// be computed, and the sum equals that of plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/conv.h"
#include "model/listed_sources.h"
#include "model/model.h"

namespace atl {
namespace {

constexpr Index kOwned = 4, kBoundary = 2, kIn = 3, kOut = 2;

/// A rank with a peer, whose one row arrives as the product with the weight that it is.
class TwoRanks final : public Verbs {
 public:
  TwoRanks() : Verbs(ctx_) {
    state_.destinations = kOwned;
    state_.boundary = kBoundary;
    own_.arcs = {kOwned, kOwned, own_offsets_, own_columns_, nullptr};
    outer_.arcs = {kOwned, 1, outer_offsets_, outer_columns_, nullptr};
    halo_.resize(1, kOut);
    halo_.data()[0] = Real(0.25), halo_.data()[1] = Real(-0.5);
  }

  Gather& gather(const Rows& rows) override {
    at_begin_ = Matrix(kOwned, kOut);
    axpby(ctx_, 1, rows.dense, 0, at_begin_.view());
    return sources_.begin(
        {{&own_, rows, 0, true, false, {}}, {&outer_, Rows(halo_.view()), 1, false, true, {}}});
  }
  Gather& gather_back(const Rows& rows, MatrixView) override { return gather(rows); }
  void reduce(std::span<double>) override {}

  /// (owned, out) what the gather was given when it began.
  const Matrix& at_begin() const { return at_begin_; }
  double halo(Index column) const { return double(halo_.data()[column]); }
  /// Of a destination, among own rows; and whether it reads the peer's.
  static std::vector<Index> sources(Index row) {
    static const std::vector<Index> all[kOwned] = {{1, 3}, {0}, {2}, {}};
    return all[row];
  }
  static bool reads_halo(Index row) { return row == 0 || row == 3; }

 private:
  ListedSources sources_;
  Matrix halo_, at_begin_;
  Index own_offsets_[kOwned + 1] = {0, 2, 3, 4, 4}, outer_offsets_[kOwned + 1] = {0, 1, 1, 1, 2};
  VertexId own_columns_[4] = {1, 3, 0, 2}, outer_columns_[2] = {0, 0};
  Block own_, outer_;
  ThreadPool pool_{1};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
};

TEST(Products, OfBoundaryRowsAreComputedFirst) {
  const auto layer = make_conv({.index = 1, .in = kIn, .out = kOut, .sends_products = true});
  EXPECT_EQ(layer->spec().product_cols, kOut);
  EXPECT_EQ(layer->spec().gathered_columns(), kOut);
  EXPECT_FALSE(layer->spec().rows_in_backward) << "no halo rows are kept";
  Parameters parameters({layer->spec().parameters}, 1);
  Matrix x(kOwned, kIn), unknown(kOwned, kIn), out(kOwned, kOut);
  for (Index i = 0; i < kOwned * kIn; ++i) x.data()[i] = Real(0.3 * double(i % 5) - 0.4);
  const ConstMatrixView w = parameters.value(0, 0);
  const auto product = [&](Index row, Index column) {
    double sum = 0;
    for (Index k = 0; k < kIn; ++k) sum += double(x.view().at(row, k)) * double(w.at(k, column));
    return sum;
  };

  TwoRanks verbs;
  Saved none;
  const auto forward = [&](const Matrix& rows) {
    layer->forward(verbs, {parameters.present(), 0}, {rows.view(), rows.view(), {}}, none, out.view());
  };
  fill(verbs.context(), std::numeric_limits<Real>::quiet_NaN(), unknown.view());
  forward(unknown);  // leaves products that aren't numbers where the next ones go
  forward(x);
  for (Index row = 0; row < kOwned; ++row)
    for (Index c = 0; c < kOut; ++c) {
      const Real sent = verbs.at_begin().view().at(row, c);
      if (row < kBoundary)
        EXPECT_NEAR(sent, product(row, c), 1e-6) << "row " << row << " is read by the peer";
      else
        EXPECT_TRUE(std::isnan(sent)) << "row " << row << " can be computed while others travel";
      double sum = TwoRanks::reads_halo(row) ? verbs.halo(c) : 0;
      for (const Index source : TwoRanks::sources(row)) sum += product(source, c);
      EXPECT_NEAR(out.view().at(row, c), sum, 1e-6) << "row " << row << ", column " << c;
    }
}

TEST(Products, AreSentWhereTheyAreNarrower) {
  EXPECT_EQ(make_conv({.in = 2, .out = 2, .sends_products = true})->spec().product_cols, 0);
  EXPECT_EQ(make_conv({.in = 3, .out = 2})->spec().product_cols, 0) << "late rows stay rows";
  EXPECT_EQ(make_conv({.in = 3, .out = 2, .sends_products = true, .fixed_input = true})->spec().product_cols,
            0)
      << "features are on their readers already";
}

}  // namespace
}  // namespace atl
