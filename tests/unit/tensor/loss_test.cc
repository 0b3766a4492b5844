// Losses and optimisers' steps against their definitions in double precision.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(Loss);

const std::vector<VertexId> kRows = {0, 3, 4, 1500, 2999};

TEST_P(Loss, CrossEntropyAndItsGradient) {
  TestRank rank;
  for (const Index classes : {Index(2), Index(7), Index(16), Index(40)}) {
    const Matrix logits = random_matrix(91, 3000, classes, -5, 5);
    std::vector<std::int32_t> labels(3000, -1);
    for (const VertexId r : kRows) labels[std::size_t(r)] = std::int32_t(r % classes);
    Matrix d = random_matrix(92, 3000, classes);
    const auto probability = [&](Index r, Index c) {
      double total = 0;
      for (Index k = 0; k < classes; ++k) total += std::exp(double(logits.at(r, k)));
      return std::exp(double(logits.at(r, c))) / total;
    };
    double want = 0;
    for (const VertexId r : kRows) want -= std::log(probability(r, labels[std::size_t(r)]));
    const auto loss = [&](MatrixView d_logits) {
      return left_by([&](double* sum) {
        cross_entropy(rank.ctx, logits, labels.data(), kRows, Real(0.2), d_logits, sum);
      });
    };
    EXPECT_NEAR(loss(d), want, kTolerance * want);
    EXPECT_NEAR(loss({}), want, kTolerance * want);
    expect_near(d, [&](Index r, Index c) {
      if (labels[std::size_t(r)] < 0) return 0.0;
      return 0.2 * (probability(r, c) - (labels[std::size_t(r)] == c ? 1 : 0));
    });
  }
}

TEST_P(Loss, BinaryCrossEntropyAndItsGradient) {
  TestRank rank;
  Matrix logits = random_matrix(93, 3000, 13, -5, 5), d(3000, 13);
  logits.at(3, 0) = 80;  // must not overflow
  logits.at(3, 1) = -80;
  std::vector<std::uint8_t> targets(3000 * 13);
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::uint8_t(mix64(i) & 1);
  const View<const std::uint8_t> view(targets.data(), 3000, 13);
  const auto sigmoid = [&](Index r, Index c) { return 1 / (1 + std::exp(-double(logits.at(r, c)))); };
  double want = 0;
  for (const VertexId r : kRows) {
    for (Index c = 0; c < 13; ++c) {
      const double x = double(logits.at(r, c));
      want += std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0) - (view.at(r, c) != 0 ? x : 0);
    }
  }
  const double loss =
      left_by([&](double* sum) { binary_cross_entropy(rank.ctx, logits, view, kRows, Real(0.5), d, sum); });
  EXPECT_NEAR(loss, want, kTolerance * want);
  expect_near(d, [&](Index r, Index c) {
    const bool selected = std::find(kRows.begin(), kRows.end(), VertexId(r)) != kRows.end();
    return selected ? 0.5 * (sigmoid(r, c) - double(view.at(r, c))) : 0.0;
  });
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

TEST_P(Loss, AdamFollowsItsDefinition) {
  TestRank rank;
  for (const bool decoupled : {false, true}) {
    Matrix weight = random_matrix(96, 1, 77), m(1, 77), v(1, 77);
    m.zero();
    v.zero();
    std::vector<double> w(77), dm(77, 0.0), dv(77, 0.0);
    for (std::size_t i = 0; i < 77; ++i) w[i] = double(weight.data()[i]);
    for (int step = 1; step <= 5; ++step) {
      const Matrix gradient = random_matrix(unsigned(96 + step), 1, 77);
      StepState state;
      begin_step(rank.ctx, 0.01, step, &state);
      adam(rank.ctx, {0.9, 0.999, 1e-8, 0.1, decoupled}, &state, 77, gradient.data(), m.data(), v.data(),
           weight.data());
      for (std::size_t i = 0; i < 77; ++i) {
        const double g = double(gradient.data()[i]) + (decoupled ? 0 : 0.1 * w[i]);
        dm[i] = 0.9 * dm[i] + 0.1 * g;
        dv[i] = 0.999 * dv[i] + 0.001 * g * g;
        if (decoupled) w[i] -= 0.01 * 0.1 * w[i];
        w[i] -= 0.01 * dm[i] / (1 - std::pow(0.9, step)) /
                (std::sqrt(dv[i] / (1 - std::pow(0.999, step))) + 1e-8);
      }
    }
    expect_near(weight, [&](Index, Index i) { return w[std::size_t(i)]; });
  }
}

TEST_P(Loss, NormOfAGradientIsTheRootOfItsSquares) {
  double first = 0;
  for (const Index count : {0, 1, 15, 16, 17, 100003}) {
    const Matrix x = random_matrix(89, 1, count);
    double want = 0;
    for (Index i = 0; i < count; ++i) want += double(x.data()[i]) * double(x.data()[i]);
    for (const int threads : {1, 3}) {
      TestRank rank(threads);
      const double got = left_by([&](double* sum) { squared_norm(rank.ctx, count, x.data(), sum); });
      EXPECT_NEAR(got, want, 1e-12 * want) << count;
      if (threads == 1) first = got;
      EXPECT_EQ(got, first) << count;
    }
  }
}

TEST_P(Loss, SgdFollowsItsDefinition) {
  TestRank rank;
  Matrix weight = random_matrix(97, 1, 9), velocity = random_matrix(98, 1, 9);
  const Matrix before = weight.clone(), speed = velocity.clone(), gradient = random_matrix(99, 1, 9);
  StepState state;
  begin_step(rank.ctx, 0.1, 1, &state);
  sgd(rank.ctx, {0.9, 0.01}, &state, 9, gradient.data(), velocity.data(), weight.data());
  expect_near(weight, [&](Index, Index i) {
    const double w = double(before.data()[i]);
    return w - 0.1 * (0.9 * double(speed.data()[i]) + double(gradient.data()[i]) + 0.01 * w);
  });
}

}  // namespace
}  // namespace atl
