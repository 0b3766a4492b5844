// What the chart's admission policy asks of models, strategies and samplers. Its rules are about fields into
// which the resource's own rules can't see (crd.h).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "job/crd/crd.h"
#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// Of models or strategies: "[gat, gcnii]".
template <class Info, class Condition>
std::string kinds_where(const std::vector<Info>& infos, Condition holds) {
  std::vector<std::string> kinds;
  for (const Info& info : infos)
    if (holds(info)) kinds.push_back(info.kind);
  return fmt::format("[{}]", fmt::join(kinds, ", "));
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
