#include "job/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "job/field.h"
#include "job/models/kinds.h"
#include "job/samplers.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// The option that counts the layers that read neighbours; null: model.layers counts them.
const Field* layers_option_of(const ModelInfo& info) {
  for (const Field& option : info.options)
    if (option_name(option) == info.layers_option) return &option;
  return nullptr;
}

template <class Condition>
std::vector<std::string> models_where(Condition condition) {
  std::vector<std::string> kinds;
  for (const auto& info : model_infos())
    if (condition(info)) kinds.push_back(info.kind);
  return kinds;
}

/// The models, strategies and samplers with their own default for the field, as text. Kinds with the same
/// value of `what` are named together.
std::string kinds_by(const Field& field, std::string OwnDefault::*what,
                     fmt::format_string<const std::string&, std::string> text, const char* between) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // in the table's order
  const auto add = [&](const std::string& kind, const std::vector<OwnDefault>& defaults) {
    const auto own = std::ranges::find(defaults, field.path, &OwnDefault::path);
    if (own == defaults.end() || !field.of_kind.empty()) return;
    auto group = std::ranges::find(groups, (*own).*what, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(group, {(*own).*what, {}});
    group->second.push_back(kind);
  };
  for (const auto& info : model_infos()) add(info.kind, info.defaults);
  for (const auto& info : strategy_infos()) add(info.kind, info.defaults);
  for (const auto& info : sampler_infos()) add("sampler " + info.name, info.defaults);
  std::vector<std::string> all;
  for (const auto& [value, kinds] : groups) all.push_back(fmt::format(text, value, joined(kinds, " and ")));
  return joined(all, between);
}

}  // namespace

Field model_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest) {
  return option_field(OptionOwner::kModel, kind, "model.options." + name, std::move(initial),
                      std::move(rest));
}

Field hops_option(const std::string& kind, std::int64_t initial, const char* source) {
  return model_option(kind, "hops", initial,
                      {.description = "how many times rows are summed over neighbours",
                       .minimum = 1,
                       .maximum = 100,
                       .source = source});
}

const std::vector<ModelInfo>& model_infos() {
  static const std::vector<ModelInfo> infos = [] {
    std::vector<ModelInfo> all;
    for (const auto make : kModelInfos) all.push_back(make());
    return all;
  }();
  return infos;
}

const ModelInfo* find_model(const std::string& kind) {
  for (const auto& info : model_infos()) {
    if (info.kind == kind) return &info;
  }
  return nullptr;
}

int gathering_layers(const ModelSpec& model) {
  const ModelInfo* info = find_model(model.kind);
  return info == nullptr || info->layers_option.empty() ? model.layers
                                                        : int(model.options.integer(info->layers_option));
}

std::string layers_field(const ModelSpec& model) {
  const ModelInfo* info = find_model(model.kind);
  const Field* option = info == nullptr ? nullptr : layers_option_of(*info);
  return option == nullptr ? "model.layers" : option->path;
}

std::vector<std::string> models_with_option(const std::string& path) {
  return models_where([&](const ModelInfo& info) {
    return std::ranges::find(info.options, path, &Field::path) != info.options.end();
  });
}

std::string owners_of(const std::string& path) {
  return joined(models_with_option(path), " or ");
}

std::vector<std::string> models_that_read(const std::string& path) {
  return models_where(
      [&](const ModelInfo& info) { return std::ranges::find(info.reads, path) != info.reads.end(); });
}

std::vector<std::string> models_that_aggregate_first() {
  return models_where([](const ModelInfo& info) { return info.aggregates_first; });
}

std::string own_defaults(const Field& field) {
  return kinds_by(field, &OwnDefault::value, "{} with {}", ", ");
}

std::string own_sources(const Field& field) {
  return kinds_by(field, &OwnDefault::source, "{} ({})", "; ");
}

std::string option_of_another(const std::string& owners, const std::string& kind) {
  return "is an option of " + owners + "; this model is " + kind + " (remove the option)";
}

}  // namespace atl
