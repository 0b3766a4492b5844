// The table of models. A new one is a file beside this and one line here (and its options in job/models.cc).
#include "model/model.h"

namespace atl {
namespace {

struct Entry {
  const char* kind;
  Model (*make)(const ModelSpec&, const TrainingSpec&, const ModelInput&);
  GraphNeeds needs;
};

constexpr Entry kModels[] = {
    {"gcn", make_gcn, {Normalisation::kSymmetric, SelfLoops::kAdd, false}},
    {"sage", make_sage_model, {Normalisation::kMean, SelfLoops::kRemove, false}},
    {"gat", make_gat, {Normalisation::kSum, SelfLoops::kAdd, true}},
    {"gcnii", make_gcnii, {Normalisation::kSymmetric, SelfLoops::kAdd, false}},
    {"resgcn", make_resgcn, {Normalisation::kMean, SelfLoops::kRemove, false}},
    {"sgc", make_sgc, {Normalisation::kSymmetric, SelfLoops::kAdd, false}},
};

const Entry& entry_of(const std::string& kind) {
  std::string known;
  for (const Entry& e : kModels) {
    if (kind == e.kind) return e;
    known += (known.empty() ? "" : ", ") + std::string(e.kind);
  }
  fail("model.kind: '{}' is unknown; known: {}", kind, known);
}

}  // namespace

GraphNeeds graph_needs(const ModelSpec& spec) {
  GraphNeeds needs = entry_of(spec.kind).needs;
  // SAGE's other aggregators are the same mean over a graph that has self loops.
  if (spec.kind == "sage" && spec.options.text("aggregator") != "mean") needs.self_loops = SelfLoops::kAdd;
  // A softmax over arcs has no scales to fold.
  if (spec.kind == "resgcn" && spec.options.text("aggregator") == "softmax")
    needs.normalisation = Normalisation::kSum;
  return needs;
}

Model make_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  Model model = entry_of(spec.kind).make(spec, training, input);
  model.needs = graph_needs(spec);
  return model;
}

std::vector<std::vector<ParameterSpec>> Model::parameters() const {
  std::vector<std::vector<ParameterSpec>> all;
  for (const auto& layer : layers) all.push_back(layer->parameters());
  return all;
}

int Model::constant_prefix() const {
  int count = 0;
  while (count < int(layers.size()) && layers[std::size_t(count)]->constant()) ++count;
  return count;
}

}  // namespace atl
