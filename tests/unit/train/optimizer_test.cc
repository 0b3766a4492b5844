#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "base/threads.h"
#include "comm/transports.h"
#include "train/gradient.h"
#include "train/small_job.h"

namespace atl {
namespace {

/// A first layer without weights, a convolution, and a dense layer with a bias that doesn't decay.
struct Weights {
  Weights() {
    for (Real& w : parameters.values()) w = 1;
    ctx.pool = &pool;
    ctx.workspace = &workspace;
  }
  Real value(int layer, int index) { return parameters.value(layer, index).at(0, 0); }

  ThreadPool pool{1};
  Workspace workspace;
  Context ctx;
  Parameters parameters{
      {{},
       {{"weight", 2, 3, Init::kGlorot, DecayGroup::kConvolution}},
       {{"weight", 3, 2, Init::kGlorot, DecayGroup::kConvolution}},
       {{"weight", 2, 2, Init::kGlorot, DecayGroup::kDense}, {"bias", 1, 2, Init::kZero, DecayGroup::kNone}}},
      1};
};

OptimizerSpec plain_sgd() {
  OptimizerSpec spec;
  spec.kind = OptimizerKind::kSgd;
  return spec;
}

TEST(Optimizer, EachGroupDecaysAtItsOwnRate) {
  Weights w;
  OptimizerSpec spec = plain_sgd();
  spec.weight_decay = {.convolutions = 0.1, .dense = 0.2, .first_layer = 0.4};
  Optimizer optimizer(spec, w.parameters);
  take_step(w.ctx, optimizer, 0.5);
  EXPECT_FLOAT_EQ(float(w.value(1, 0)), 1 - 0.5F * 0.4F) << "the first layer that has weights";
  EXPECT_FLOAT_EQ(float(w.value(2, 0)), 1 - 0.5F * 0.1F);
  EXPECT_FLOAT_EQ(float(w.value(3, 0)), 1 - 0.5F * 0.2F);
  EXPECT_EQ(w.value(3, 1), 1) << "biases in no group don't decay";
}

TEST(Optimizer, TheFirstLayerBelongsToItsGroupUnlessSaid) {
  Weights w;
  OptimizerSpec spec = plain_sgd();
  spec.weight_decay = {.convolutions = 0.1, .dense = 0.2};
  Optimizer optimizer(spec, w.parameters);
  take_step(w.ctx, optimizer, 0.5);
  EXPECT_FLOAT_EQ(float(w.value(1, 0)), 1 - 0.5F * 0.1F);
}

TEST(Optimizer, AGradientIsClippedToItsNorm) {
  Weights w;
  Communicator comm(std::move(make_local_group(1).front()));
  for (Real& g : w.parameters.gradients()) g = 3;
  StepState state;
  Gradient(w.ctx, comm, w.parameters).clip(w.ctx, 1, &state);
  Optimizer optimizer(plain_sgd(), w.parameters);
  take_step(w.ctx, optimizer, 1);
  const auto count = double(w.parameters.gradients().size());
  for (const Real weight : w.parameters.trainable()) EXPECT_NEAR(weight, 1 - 1 / std::sqrt(count), 1e-6);
}

TEST(Optimizer, AdamsFirstStepIsTheLearningRateWhateverTheGradient) {
  Weights w;
  const auto gradients = w.parameters.gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = Real(i % 2 == 0 ? 1e-3 : -50);
  Optimizer optimizer({}, w.parameters);
  take_step(w.ctx, optimizer, 0.01);
  EXPECT_EQ(optimizer.steps(), 1);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    EXPECT_NEAR(w.parameters.trainable()[i], 1 - (i % 2 == 0 ? 0.01 : -0.01), 1e-6);
}

/// A weight whose gradient is the weight itself, as it was read `delay` steps before: `ahead` of the last
/// updates further on than it was then.
struct LateWeight {
  int delay = 0;
  int known = 0;  // of it, to the optimiser
  double ahead = 0;

  /// Whether it comes to rest in steps of `rate` times the mean gradient. Adam's denominator is `kEpsilon`
  /// wherever the weight hasn't run away.
  bool rests(double rate) const {
    constexpr double kEpsilon = 1e6;
    constexpr int kSteps = 20000;
    ThreadPool pool(1);
    Workspace workspace;
    Context ctx{.pool = &pool, .workspace = &workspace};
    Parameters parameters({{{"weight", 1, 1}}}, 1);
    Real& weight = parameters.values()[0];
    weight = 1;
    Optimizer optimizer({.epsilon = kEpsilon}, parameters, known);
    // Steps without a gradient come first: the first ones are longer, until Adam's mean needs no correction.
    parameters.gradients()[0] = 0;
    for (int step = 0; step < 1000; ++step) take_step(ctx, optimizer, rate);
    std::deque<double> reads(std::size_t(delay) + 1, double(weight));
    for (int step = 0; step < kSteps && std::abs(weight) < 1e3; ++step) {
      const double before = weight;
      parameters.gradients()[0] = Real(reads.front());
      take_step(ctx, optimizer, rate * kEpsilon);
      reads.pop_front();
      reads.push_back(weight + ahead * (weight - before));
    }
    return std::abs(weight) < 1;
  }
};

/// The limits that train/optimizer.h tells.
TEST(LateGradients, NarrowWhatAdamLearnsStably) {
  const LateWeight in_time, late{.delay = 3}, by_the_rule{.delay = 3, .known = 3, .ahead = 4};
  EXPECT_TRUE(in_time.rests(37));
  EXPECT_FALSE(in_time.rests(39));
  EXPECT_TRUE(late.rests(0.33));
  EXPECT_FALSE(late.rests(0.37));
  EXPECT_TRUE(by_the_rule.rests(1.9));
  EXPECT_FALSE(by_the_rule.rests(2.1));
}

/// The first steps are of one place: together they are shorter than one step without a delay.
TEST(LateGradients, BeginWithShortSteps) {
  Weights w;
  for (Real& g : w.parameters.gradients()) g = 7;
  Optimizer optimizer({}, w.parameters, 3);
  for (int step = 0; step < 4; ++step) take_step(w.ctx, optimizer, 0.01);
  const double moved = 0.01 * (4 - 0.975 - std::pow(0.975, 2) - std::pow(0.975, 3) - std::pow(0.975, 4));
  for (const Real weight : w.parameters.trainable()) EXPECT_NEAR(weight, 1 - moved, 1e-6);
}

TEST(LateGradients, AreNothingToSgd) {
  Weights late, in_time;
  for (Weights* each : {&late, &in_time}) {
    for (Real& g : each->parameters.gradients()) g = 7;
    Optimizer optimizer(plain_sgd(), each->parameters, each == &late ? 3 : 0);
    take_step(each->ctx, optimizer, 0.01);
  }
  EXPECT_EQ(late.value(1, 0), in_time.value(1, 0));
}

}  // namespace
}  // namespace atl
