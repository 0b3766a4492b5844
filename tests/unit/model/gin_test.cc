// GIN's convolution compared with equation 4.1 in plain loops, whether its sum is computed once, before the
// product, or after it.
#include <gtest/gtest.h>

#include <algorithm>

#include "job/load.h"
#include "model/one_block.h"

namespace atl {
namespace {

constexpr Index kFeatures = 5, kClasses = 2;
constexpr double kEpsilon = 0.5;

Job gin_job(Index hidden, bool is_precomputed) {
  return parse_job(
             fmt::format(
                 "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {{name: one}}\nspec:\n"
                 "  dataset: {{name: one}}\n  training: {{inputDropout: {{rate: {}}}}}\n"
                 "  model: {{kind: gin, layers: 1, hidden: {}, norm: none, options: {{epsilon: {}}}}}\n",
                 is_precomputed ? 0 : 0.5, hidden, kEpsilon),
             "one.yaml", {})
      .job;
}

/// The model's output for `input`, layer after layer.
Matrix output_of(const Model& model, Parameters& parameters, const Matrix& input) {
  OneBlock verbs;
  Matrix rows = input.clone();
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Layer& layer = *model.layers[l];
    const LayerRows count{OneBlock::kRows, OneBlock::kRows, OneBlock::kRows, {OneBlock::kRows}};
    Matrix memory(1, Saved::reals(layer.spec().saved, count, Storage::kReals)),
        out(OneBlock::kRows, layer.spec().out);
    Saved saved;
    saved.place(layer.spec().saved, count, Storage::kReals, memory.data());
    layer.forward(verbs, {parameters.present(), int(l)}, {rows.view(), rows.view(), {}}, saved, out);
    rows = std::move(out);
  }
  return rows;
}

/// x · W + b of the layer.
std::vector<double> product(const std::vector<double>& x, Parameters& parameters, int layer) {
  const ConstMatrixView w = parameters.value(layer, 0), b = parameters.value(layer, 1);
  std::vector<double> out(std::size_t(w.cols));
  for (Index c = 0; c < w.cols; ++c) {
    out[std::size_t(c)] = double(b.at(0, c));
    for (Index r = 0; r < w.rows; ++r) out[std::size_t(c)] += x[std::size_t(r)] * double(w.at(r, c));
  }
  return out;
}

class Gin : public testing::TestWithParam<std::tuple<Index, bool>> {};

TEST_P(Gin, IsEquation41) {
  const auto [hidden, is_precomputed] = GetParam();
  const Job job = gin_job(hidden, is_precomputed);
  const Model model = make_model(job.model, job.training, {.features = kFeatures, .classes = kClasses});
  ASSERT_EQ(model.constant_prefix(), is_precomputed ? 1 : 0);
  ASSERT_EQ(model.layers.size(), std::size_t(model.constant_prefix()) + 2);
  Parameters parameters(model.parameters(), 1);
  Matrix input(OneBlock::kRows, kFeatures);
  for (Index i = 0; i < OneBlock::kRows * kFeatures; ++i) input.data()[i] = Real(0.1 * double(i % 7) - 0.2);
  const Matrix got = output_of(model, parameters, input);
  for (Index v = 0; v < OneBlock::kRows; ++v) {
    std::vector<double> sum(kFeatures, 0.0);
    for (Index c = 0; c < kFeatures; ++c) {
      sum[std::size_t(c)] = (1 + kEpsilon) * double(input.at(v, c));
      for (const Index neighbour : OneBlock::neighbours(v))
        sum[std::size_t(c)] += double(input.at(neighbour, c));
    }
    std::vector<double> h = product(sum, parameters, model.constant_prefix());
    for (double& each : h) each = std::max(each, 0.0);
    const std::vector<double> out = product(h, parameters, model.constant_prefix() + 1);
    for (Index c = 0; c < kClasses; ++c)
      EXPECT_NEAR(got.at(v, c), out[std::size_t(c)], 1e-5) << "vertex " << v << ", class " << c;
  }
}

/// In a hidden layer of 3 columns the product comes before the sum, in one of 8 after it.
INSTANTIATE_TEST_SUITE_P(Forms, Gin, testing::Combine(testing::Values(Index(3), Index(8)), testing::Bool()));

}  // namespace
}  // namespace atl
