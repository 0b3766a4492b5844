// The explainer by itself: its masks' gradient is the loss's under every model, its masks find what matters,
// its lane waits for no other lane, and training waits for its results.
#include "strategies/dgs/explainer_lane.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr Index kOthers = 7, kFeatures = 6;
constexpr int kClasses = 3;

double uniform(int what, Index i) {
  return Draws(4, Purpose::kSampling).uniform_at(std::uint64_t(what), std::uint64_t(i));
}

struct Explained {
  explicit Explained(const SmallCase& c, Index others = kOthers, const ExplainerOptions& options = {})
      : model(job_model(dgs_job(c, 2), {.columns = kFeatures}, kClasses)), parameters(model.parameters(), 3) {
    weights.resize(1, Index(parameters.values().size()));
    for (Index i = 0; i < weights.cols(); ++i)
      weights.at(0, i) = parameters.values()[std::size_t(i)] + Real(0.1 * uniform(0, i));
    Matrix features(1 + others, kFeatures);
    for (Index i = 0; i < features.rows() * kFeatures; ++i)
      features.data()[i] = Real(2 * uniform(1, i) - 0.7);
    std::vector<VertexId> ids;
    for (Index i = 0; i < others; ++i) ids.push_back(VertexId(100 + i));
    explainer = std::make_unique<Explainer>(model, parameters, ids, std::move(features), options);
  }
  Model model;
  Parameters parameters;
  Matrix weights;
  std::unique_ptr<Explainer> explainer;
};

class MaskGradient : public testing::TestWithParam<SmallCase> {};

/// By a mask's value m, open σ(m): central differences.
TEST_P(MaskGradient, IsThatOfThePrediction) {
  for (const bool multi_label : {false, true}) {
    Explained e(GetParam(), kOthers, {.multi_label = multi_label});
    std::vector<double> values;
    for (Index i = 0; i < kOthers + kFeatures; ++i) values.push_back(uniform(2, i) - 0.5);
    std::vector<double> d_arcs(kOthers), d_features(kFeatures), unused_arcs(kOthers), unused(kFeatures);
    const auto loss = [&](std::span<double> of_arcs, std::span<double> of_features) {
      std::vector<Real> open;
      for (const double m : values) open.push_back(Real(1 / (1 + std::exp(-m))));
      const std::span<const Real> all(open);
      return e.explainer->loss_of_prediction(e.weights, all.first(kOthers), all.subspan(kOthers), of_arcs,
                                             of_features);
    };
    e.explainer->choose_label(e.weights, {});
    loss(d_arcs, d_features);
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      constexpr double kStep = 1e-5;
      const double kept = values[i];
      values[i] = kept + kStep;
      const double above = loss(unused_arcs, unused);
      values[i] = kept - kStep;
      const double below = loss(unused_arcs, unused);
      values[i] = kept;
      const double gradient = i < kOthers ? d_arcs[i] : d_features[i - kOthers];
      EXPECT_NEAR(gradient, (above - below) / (2 * kStep), 2e-8) << i;
      largest = std::max(largest, std::abs(gradient));
    }
    EXPECT_GT(largest, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MaskGradient, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Kinds, MaskGradient,
                         testing::Values(SmallCase{"one_layer", {"model.layers=1"}},
                                         SmallCase{"gcn_batch_norm", {"model.norm=batch"}},
                                         SmallCase{"gat_batch_norm", {"model.kind=gat", "model.norm=batch"}},
                                         SmallCase{"dense_layers",
                                                   {"model.denseLayers=2", "model.norm=layer"}}),
                         [](const auto& each) { return each.param.name; });

/// Masks open what keeps the prediction, and close the rest: the loss falls, and features that the weights
/// don't read are closed.
TEST(Explainer, ClosesWhatDoesNotMatter) {
  Explained e({"sage", {"model.kind=sage", "model.layers=2", "training.inputDropout={rate: 0.3}"}}, kOthers,
              {.epochs = 200, .learning_rate = 0.05});
  for (int index = 0; index < e.parameters.count_in(0); ++index)
    if (const auto& spec = e.model.layers[0]->spec().parameters[std::size_t(index)]; spec.input_blocks > 0)
      for (int block = 0; block < spec.input_blocks; ++block)
        for (Index c = 0; c < spec.cols; ++c) {
          const auto at =
              e.parameters.value(0, index).row(block * kFeatures + 2) - e.parameters.values().data();
          e.weights.at(0, at + c) = 0;  // of feature 2
        }
  Explanation out;
  const std::atomic<bool> stop = false;
  e.explainer->explain(e.weights, {}, out, stop);
  EXPECT_EQ(out.epochs, 200);
  EXPECT_LT(out.loss, out.first_loss);
  EXPECT_GT(std::ranges::max(out.features), out.features[2]) << "what matters stays more open";
  EXPECT_LT(out.features[2], 0.1);
  Explanation again;
  e.explainer->explain(e.weights, {}, again, stop);
  EXPECT_EQ(again.vertices, out.vertices) << "each explanation begins anew";
  EXPECT_EQ(again.features, out.features);
}

/// One layer whose score of class 0 is a neighbour's feature 0, three times: the more of it, the more open,
/// and less of it than nothing is what should be closed first.
TEST(Explainer, OpensNeighboursInTheOrderInWhichTheyMatter) {
  Explained e({"sage", {"model.kind=sage", "model.layers=1"}}, kOthers,
              {.epochs = 100, .learning_rate = 0.05});
  e.weights.zero();
  const auto weight = std::ranges::find_if(e.parameters.entries(), [](const Parameters::Entry& entry) {
    return entry.spec.rows == 2 * kFeatures;  // the centre's own, then its neighbours'
  });
  ASSERT_NE(weight, e.parameters.entries().end());
  e.weights.at(0, weight->offset + kFeatures * weight->spec.cols) = 3;
  Explanation out;
  e.explainer->explain(e.weights, std::vector<double>{0.8, 0.1, 0.1}, out, false);
  std::vector<std::pair<double, Real>> by_feature;  // with the mask
  for (Index i = 0; i < kOthers; ++i)
    by_feature.emplace_back(2 * uniform(1, (1 + i) * kFeatures) - 0.7, out.vertices[std::size_t(i)]);
  std::ranges::sort(by_feature);
  for (std::size_t i = 1; i < by_feature.size(); ++i)
    EXPECT_GT(by_feature[i].second, by_feature[i - 1].second) << by_feature[i].first;
  EXPECT_LT(by_feature.front().first, 0);
  EXPECT_GT(by_feature.back().second, 1.2 * by_feature.front().second);
  EXPECT_GT(out.features[0], std::ranges::max(std::span(out.features).subspan(1))) << "nothing else is read";
}

/// A sum over all of the star's vertices can overflow where no batch's does. A mask that isn't a number would
/// draw neighbours and choose columns all the same.
TEST(Explainer, RefusesAStarThatOverflows) {
  Explained e({"gin", {"model.kind=gin", "model.layers=2"}});
  for (Index i = 0; i < e.weights.cols(); ++i) e.weights.at(0, i) = 1e200;
  Explanation out;
  EXPECT_THAT([&] { e.explainer->explain(e.weights, {}, out, false); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  testing::HasSubstr("the explanation isn't finite: its star sums over 7 vertices"),
                  testing::HasSubstr("model.norm"))));
}

TEST(Explainer, EndsWhereTheLossIsBelowTheThreshold) {
  Explained e({"sage", {"model.kind=sage"}}, kOthers, {.threshold = 100});
  Explanation out;
  e.explainer->explain(e.weights, {}, out, false);
  EXPECT_EQ(out.epochs, 0);
  EXPECT_THAT(out.vertices, testing::Each(Real(0.5)));
}

TEST(Explainer, ExplainsFeaturesWhereNoOtherRankIsRead) {
  Explained e({"gcn", {}}, 0);
  Explanation out;
  e.explainer->explain(e.weights, std::vector<double>{0.2, 0.7, 0.1}, out, false);
  EXPECT_TRUE(out.vertices.empty());
  EXPECT_NE(out.features.front(), Real(0.5));
}

/// However long it takes, the result is there when it is asked for; and what never begins is waited for until
/// the lane is closed.
TEST(ExplainerLane, IsWaitedForAndClosed) {
  run_ranks(1, [&](Communicator& comm) {
    std::atomic<int> made = 0;
    ExplainerLane lane(comm, [&](std::int64_t number, Explanation& out, const std::atomic<bool>&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ++made;
      out.epochs = 10 * int(number);
    });
    for (const std::int64_t number : {3, 4, 5}) {
      lane.begin(number, 1);
      const Explanation* const result = lane.result(number);
      ASSERT_NE(result, nullptr);
      EXPECT_EQ(result->epochs, 10 * number);
    }
    EXPECT_EQ(made, 3);
    EXPECT_EQ(lane.counts().explanations, 3);
    EXPECT_GE(lane.counts().seconds, 0.09);
    EXPECT_EQ(lane.result(4)->epochs, 40) << "the one before is kept";
    std::jthread closes([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      lane.close();
    });
    EXPECT_EQ(lane.result(6), nullptr);
  });
}

TEST(ExplainerLane, TellsWhatFailed) {
  run_ranks(1, [&](Communicator& comm) {
    ExplainerLane lane(comm, [](std::int64_t, Explanation&, const std::atomic<bool>&) { fail("no mask"); });
    lane.begin(0, 1);
    EXPECT_THROW(lane.result(0), Error);
  });
}

}  // namespace
}  // namespace atl
