#include "job/crd/crd.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "job/api_names.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "job/yaml.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

Json names() {
  return {{"kind", kApiKind},
          {"listKind", std::string(kApiKind) + "List"},
          {"plural", kApiPlural},
          {"singular", kApiSingular},
          {"shortNames", {kApiShortName}}};
}

Json column(const char* name, const char* type, const char* path, const char* description) {
  return {{"name", name}, {"type", type}, {"jsonPath", path}, {"description", description}};
}

/// The columns of `kubectl get gnn`.
Json columns() {
  return {
      column("Strategy", "string", ".spec.strategy.kind", "how ranks exchange data"),
      column("Ranks", "integer", ".spec.placement.ranks", "number of ranks"),
      column("State", "string", ".status.state", "the job's most important condition now"),
      column("Reason", "string", ".status.reason", "that condition's reason"),
      column("Nodes", "integer", ".status.nodes", "number of nodes on which it has places"),
      column("Epoch", "integer", ".status.progress.epoch", "finished epochs"),
      column("Validation", "number", ".status.progress.validation", "training.metric on validation vertices"),
      column("ETA", "string", ".status.progress.eta", "time left"),
      column("Age", "date", ".metadata.creationTimestamp", "time since the job was created")};
}

Json schema() {
  Json rules = Json::array();
  for (const ServerRule& rule : change_rules()) rules.push_back(rule_json(rule));
  return {{"description", "Trains a graph neural network. `atoll explain --all` explains every field."},
          {"type", "object"},
          {"required", {"spec"}},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", metadata_schema()},
            {"spec", spec_schema()},
            {"status", status_schema()}}},
          {"x-kubernetes-validations", std::move(rules)}};
}

}  // namespace

std::string custom_resource_definition() {
  Json version{{"name", kApiVersion},
               {"served", true},
               {"storage", true},
               {"subresources", {{"status", Json::object()}}},
               {"additionalPrinterColumns", columns()},
               {"schema", {{"openAPIV3Schema", schema()}}}};
  const Json crd{{"apiVersion", "apiextensions.k8s.io/v1"},
                 {"kind", "CustomResourceDefinition"},
                 {"metadata", {{"name", std::string(kApiPlural) + "." + kApiGroup}}},
                 {"spec",
                  {{"group", kApiGroup},
                   {"names", names()},
                   {"scope", "Namespaced"},
                   {"versions", Json::array({std::move(version)})}}}};
  return "# The GNNJob resource, made by `atoll explain --crd` from the field table in engine/job: change that, not this "
         "file.\n" +
         yaml_text(crd);
}

// Decides which defaults the API server fills in. A stored job then keeps its meaning when a later release
// has other defaults, and the columns of `kubectl get` have values. The filled-in manifest must resolve to
// the same job as the original, without further warnings.

namespace {

/// Whether some model doesn't read the field, and warns where it is given.
bool is_ignored_by_a_model(const std::string& path) {
  return std::ranges::any_of(model_infos(), [&](const ModelInfo& info) {
    return std::ranges::find(info.ignores, path) != info.ignores.end();
  });
}

}  // namespace

bool is_defaulted(const Field& field) {
  return field.of_kind.empty() && field.used_with.path.empty() && !is_ignored_by_a_model(field.path) &&
         !default_json(field).is_null();
}

bool is_object_defaulted(const Field& object) {
  if (object.type != FieldType::kObject || object.required || !object.of_kind.empty() ||
      !object.shorthand.empty())
    return false;
  bool has_default = false;
  for (const Field& field : all_fields()) {
    if (field_parent(field.path) != object.path) continue;
    if (field.required) return false;
    has_default = has_default || is_defaulted(field);
  }
  return has_default;
}

// The facts about models, strategies and samplers that the chart's admission policy needs. Its rules are
// about fields into which the resource's own rules can't see (crd.h).

namespace {

/// The kinds of the models or strategies in `infos` for which `holds` is true: "[gat, gcnii]".
template <class Condition>
std::string kinds_where(const auto& infos, Condition holds) {
  std::vector<std::string> kinds;
  for (const auto& info : infos)
    if (holds(info)) kinds.push_back(info.kind);
  return fmt::format("[{}]", joined(kinds, ", "));
}

bool has_fanout_by_layer(const StrategyInfo& info) {
  return std::ranges::any_of(info.options, [](const Field& option) {
    return option_name(option) == "fanout" && option.type == FieldType::kIntegerList;
  });
}

std::string layers_of_models() {
  std::string text =
      "# The option that counts a model's layers which read neighbours, where it isn't model.layers.\nlayers:\n";
  for (const ModelInfo& info : model_infos())
    for (const Field& option : info.options)
      if (option_name(option) == info.layers_option)
        text += fmt::format("  {}: {{option: {}, default: {}}}\n", info.kind, info.layers_option,
                            default_of(option));
  text +=
      "# How many layers a model has where the manifest doesn't say, of those that don't have 2.\ndefaultLayers:\n";
  for (const ModelInfo& info : model_infos())
    for (const OwnDefault& own : info.defaults)
      if (own.path == "model.layers") text += fmt::format("  {}: {}\n", info.kind, own.value);
  return text;
}

}  // namespace

std::string policy_facts() {
  std::string text =
      "# What the admission rules ask of models, strategies and samplers, made by `atoll explain --policy` from "
      "engine/job: change that, not this file.\n" +
      layers_of_models();
  const auto add = [&](const char* comment, const char* name, const std::string& kinds) {
    text += fmt::format("# {}\n{}: {}\n", comment, name, kinds);
  };
  add("Models that apply input dropout before their first layer, so that it can't come after the aggregation.",
      "dropsInputFirst",
      kinds_where(model_infos(), [](const ModelInfo& info) { return info.drops_input_first; }));
  add("Models whose sums over neighbours come first of all, so that input dropout can't come before.",
      "aggregatesFirst",
      kinds_where(model_infos(), [](const ModelInfo& info) { return info.aggregates_first; }));
  add("Strategies whose fanout is a number for each layer.", "fanout",
      kinds_where(strategy_infos(), has_fanout_by_layer));
  add("Strategies under which a rank may have several parts.", "severalParts",
      kinds_where(strategy_infos(), [](const StrategyInfo& info) { return info.several_parts; }));
  text +=
      "# How many parts a graph has where the manifest doesn't say, of samplers that want more than one a rank.\n"
      "parts:\n";
  for (const SamplerInfo& info : sampler_infos())
    if (info.parts > 0) text += fmt::format("  {}: {}\n", info.name, info.parts);
  return text;
}

}  // namespace atl
