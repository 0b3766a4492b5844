// Losses of few rows among many, and steps of optimisers one after another, held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;
ATOLL_EVERY_LEVEL(Loss);

const std::vector<VertexId> kRows = {0, 3, 4, 1500, 2999};

TEST_P(Loss, CrossEntropyAndItsGradient) {
  TestRank rank;
  for (const Index classes : {Index(2), Index(7), Index(16), Index(40)}) {
    const Matrix logits = random_matrix(91, 3000, classes, -5, 5);
    std::vector<std::int32_t> labels(3000, -1);
    for (const VertexId r : kRows) labels[std::size_t(r)] = std::int32_t(r % classes);
    Matrix d = random_matrix(92, 3000, classes);
    double sum = 1;
    for (const MatrixView d_logits : {d.view(), MatrixView()})
      expect_reference(rank.ctx, &cross_entropy, &reference::cross_entropy, logits, labels.data(),
                       std::span(kRows), Real(0.2), d_logits, &sum);
  }
}

TEST_P(Loss, BinaryCrossEntropyAndItsGradient) {
  TestRank rank;
  Matrix logits = random_matrix(93, 3000, 13, -5, 5), d(3000, 13);
  logits.at(3, 0) = 80;  // must not overflow
  logits.at(3, 1) = -80;
  std::vector<std::uint8_t> targets(3000 * 13);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::uint8_t(mix64(i) & 1);
  double sum = 1;
  expect_reference(rank.ctx, &binary_cross_entropy, &reference::binary_cross_entropy, logits,
                   View<const std::uint8_t>(targets.data(), 3000, 13), std::span(kRows), Real(0.5), d, &sum);
}

TEST_P(Loss, DoesNotDependOnThreads) {
  const Matrix logits = random_matrix(94, 5000, 9, -5, 5);
  std::vector<VertexId> rows;
  std::vector<std::int32_t> labels(5000);
  std::vector<std::uint8_t> targets(5000 * 9);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::uint8_t(mix64(i) & 1);
  for (VertexId r = 0; r < 5000; ++r) {
    labels[std::size_t(r)] = std::int32_t(r % 9);
    if (r % 3 != 1) rows.push_back(r);
  }
  const View<const std::uint8_t> view(targets.data(), 5000, 9);
  for (const bool binary : {false, true}) {
    double first = 0;
    expect_same_on_any_threads([&](Context& ctx) {
      Matrix d(5000, 9);
      double sum = 0;
      if (binary)
        binary_cross_entropy(ctx, logits, view, rows, Real(0.3), d, &sum);
      else
        cross_entropy(ctx, logits, labels.data(), rows, Real(0.3), d, &sum);
      if (first == 0) first = sum;
      EXPECT_EQ(sum, first);
      return d;
    });
  }
}

TEST_P(Loss, NothingSelectedIsNothingLost) {
  TestRank rank;
  const Matrix logits = random_matrix(94, 10, 3);
  Matrix d = random_matrix(95, 10, 3);
  EXPECT_EQ(left_by([&](double* sum) { cross_entropy(rank.ctx, logits, nullptr, {}, 1, d, sum); }), 0);
  expect_near(
      d, [](Index, Index) { return 0.0; }, 0);
}

/// From moments of 0, over several steps.
TEST_P(Loss, AdamFollowsItsDefinition) {
  TestRank rank;
  for (const bool decoupled : {false, true}) {
    Matrix weight = random_matrix(96, 1, 77), m(1, 77), v(1, 77);
    m.zero();
    v.zero();
    for (int step = 1; step <= 5; ++step) {
      const Matrix gradient = random_matrix(unsigned(96 + step), 1, 77);
      StepState state;
      expect_reference(rank.ctx, &begin_step, &reference::begin_step, 0.01, std::int64_t(step), &state);
      expect_reference(rank.ctx, &adam, &reference::adam, AdamRule{0.9, 0.999, 1e-8, 0.1, decoupled}, &state,
                       Index(77), gradient.data(), m.data(), v.data(), weight.data());
    }
  }
}

TEST_P(Loss, NormOfAGradientIsTheRootOfItsSquares) {
  double first = 0;
  for (const Index count : {0, 1, 15, 16, 17, 100003}) {
    const Matrix x = random_matrix(89, 1, count);
    for (const int threads : {1, 3}) {
      TestRank rank(threads);
      double got = 0;
      expect_reference(rank.ctx, &squared_norm, &reference::squared_norm, count, x.data(), &got);
      if (threads == 1) first = got;
      EXPECT_EQ(got, first) << count;
    }
  }
}

}  // namespace
}  // namespace atl
