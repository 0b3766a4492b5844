#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace atl
