// Skip connections in one layer: with all weights 0, a hidden layer gives the activation of its own input;
// without the connection it gives nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "job/load.h"
#include "job/models.h"
#include "model/one_block.h"

namespace atl {
namespace {

Model model_of(const std::string& kind, const std::string& skip) {
  const std::string text =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: one}\nspec:\n  dataset: {name: one}\n"
      "  model: {kind: " +
      kind + ", layers: 3, hidden: 8, skipConnections: " + skip + "}\n";
  const Job job = parse_job(text, "one.yaml", {}).job;
  return make_model(job.model, job.training, {.features = 5, .classes = 2});
}

/// Of the second to last layer, the last that is hidden, for rows of values −1, −0.9, … and weights of 0.
Matrix output_of(const std::string& kind, const std::string& skip, Matrix& input) {
  const Model model = model_of(kind, skip);
  Parameters parameters(model.parameters(), 1);
  for (Real& value : parameters.values()) value = 0;
  const int number = int(model.layers.size()) - 2;
  const Layer& layer = *model.layers[std::size_t(number)];
  EXPECT_EQ(layer.spec().in, layer.spec().out);
  input.resize(OneBlock::kRows, layer.spec().in);
  for (Index i = 0; i < OneBlock::kRows * layer.spec().in; ++i) input.data()[i] = Real(-1 + 0.1 * double(i));
  const LayerRows rows{OneBlock::kRows, OneBlock::kRows, OneBlock::kRows, {OneBlock::kRows}};
  Matrix memory(1, Saved::reals(layer.spec().saved, rows, Storage::kReals)),
      out(OneBlock::kRows, layer.spec().out);
  Saved saved;
  saved.place(layer.spec().saved, rows, Storage::kReals, memory.data());
  OneBlock verbs;
  layer.forward(verbs, {parameters.present(), number}, {input.view(), input.view(), {}}, saved, out);
  return out;
}

class SkipConnections : public testing::TestWithParam<std::string> {};

TEST_P(SkipConnections, CarryALayersInputPastIt) {
  const bool elu = GetParam() == "gat";
  Matrix input;
  const Matrix with = output_of(GetParam(), "true", input), without = output_of(GetParam(), "false", input);
  for (Index i = 0; i < input.rows() * input.cols(); ++i) {
    const double h = double(input.data()[i]);
    EXPECT_NEAR(double(with.data()[i]), h > 0 ? h : elu ? std::expm1(h) : 0, 1e-6) << i;
    EXPECT_EQ(without.data()[i], 0) << i;
  }
}

std::vector<std::string> kinds_with_skip_connections() {
  std::vector<std::string> kinds;
  for (const ModelInfo& info : model_infos())
    if (std::ranges::find(info.ignores, "model.skipConnections") == info.ignores.end())
      kinds.push_back(info.kind);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Models, SkipConnections, testing::ValuesIn(kinds_with_skip_connections()),
                         [](const auto& each) { return each.param; });

TEST(SkipConnections, AreNoNewsToTheManifestOfGat) {
  const std::string text =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: one}\nspec:\n  dataset: {name: one}\n"
      "  model: {kind: gat, skipConnections: true}\n";
  for (const auto& warning : parse_job(text, "one.yaml", {}).warnings)
    EXPECT_EQ(warning.find("skipConnections"), std::string::npos) << warning;
}

}  // namespace
}  // namespace atl
