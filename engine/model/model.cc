#include "model/model.h"

#include "model/kinds.h"

namespace atl {
namespace {

ModelKind kind_of(const std::string& kind) {
  std::string known;
  for (const auto each : kModelKinds) {
    const ModelKind found = each();
    if (kind == found.kind) return found;
    known += (known.empty() ? "" : ", ") + std::string(found.kind);
  }
  fail("model.kind: '{}' is unknown; known: {}", kind, known);
}

}  // namespace

Storage storage_of(Precision precision) {
  return precision == Precision::kBFloat16 ? Storage::kHalves : Storage::kReals;
}

GraphNeeds graph_needs(const ModelSpec& spec) {
  return kind_of(spec.kind).needs(spec.options);
}

Model make_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const ModelKind kind = kind_of(spec.kind);
  Model model = kind.make(spec, training, input);
  check_taps(model);
  model.needs = kind.needs(spec.options);
  model.values = storage_of(training.precision);
  return model;
}

std::vector<std::vector<ParameterSpec>> Model::parameters() const {
  std::vector<std::vector<ParameterSpec>> all;
  for (const auto& layer : layers) all.push_back(layer->spec().parameters);
  if (!decoder.empty()) all.push_back(decoder);
  return all;
}

int Model::constant_prefix() const {
  int count = 0;
  while (count < int(layers.size()) && layers[std::size_t(count)]->spec().constant) ++count;
  return count;
}

void check_taps(const Model& model) {
  const int once = model.constant_prefix();
  for (int l = 0; l < int(model.layers.size()); ++l)
    if (const int tap = model.spec(l).tap; tap >= 0)
      ATOLL_CHECK(once <= tap && tap < l, "layer {} taps layer {}; layers 0 … {} are computed once", l, tap,
                  once - 1);
}

int first_in_place(const Model& model, const LayerRange& layers) {
  int first = layers.end - 1;
  while (first > layers.first && model.spec(first).appends) --first;
  return first;
}

SelfLoops self_loops_of(const Job& job) {
  const SelfLoops given = job.dataset.self_loops;
  return given == SelfLoops::kModel ? graph_needs(job.model).self_loops : given;
}

}  // namespace atl
