// A layer may read an earlier one's output again, unless that one is computed once and kept by no pass.
#include <gtest/gtest.h>

#include <memory>

#include "model/conv.h"
#include "model/model.h"

namespace atl {
namespace {

class Taps final : public Layer {
 public:
  explicit Taps(int layer) : Layer({.name = "taps", .in = 4, .out = 4, .tap = layer}) {}
  void forward(Verbs&, const LayerWeights&, const LayerInput&, Saved&, MatrixView) const override {}
  void backward(Verbs&, const LayerWeights&, const LayerInput&, Saved&, MatrixView, MatrixView,
                const LayerGradient&) const override {}
};

/// `once` constant layers, one without a tap, and one that taps `layer`.
Model tapping(int once, int layer) {
  Model model;
  for (int l = 0; l < once; ++l) model.layers.push_back(make_propagate({.in = 4}));
  model.layers.push_back(std::make_unique<Taps>(-1));
  model.layers.push_back(std::make_unique<Taps>(layer));
  return model;
}

TEST(Taps, AreOfEarlierLayersThatEveryPassComputes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  check_taps(tapping(0, 0));
  check_taps(tapping(2, 2));
  check_taps(tapping(2, -1));
  EXPECT_DEATH(check_taps(tapping(2, 1)), "layer 3 taps layer 1; layers 0 .* 1 are computed once");
  EXPECT_DEATH(check_taps(tapping(0, 1)), "layer 1 taps layer 1");
}

}  // namespace
}  // namespace atl
