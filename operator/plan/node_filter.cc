#include "operator/plan/node_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

std::optional<long> integer(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

bool holds(const LabelRule& rule, const NodeState& node) {
  const std::string* value = &node.name;
  if (!rule.of_name) {
    const auto found = node.labels.find(rule.key);
    value = found == node.labels.end() ? nullptr : &found->second;
  }
  const bool listed = value && std::ranges::find(rule.values, *value) != rule.values.end();
  if (rule.comparison == "In") return listed;
  if (rule.comparison == "NotIn") return !listed;
  if (rule.comparison == "Exists") return value != nullptr;
  if (rule.comparison == "DoesNotExist") return value == nullptr;
  if (!value || rule.values.size() != 1) return false;
  const auto left = integer(*value), right = integer(rule.values[0]);
  if (!left || !right) return false;
  return rule.comparison == "Gt" ? *left > *right : rule.comparison == "Lt" && *left < *right;
}

bool all_hold(const std::vector<LabelRule>& rules, const NodeState& node) {
  return std::ranges::all_of(rules, [&](const LabelRule& rule) { return holds(rule, node); });
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.comparison == "Exists" || (!toleration.key.empty() && toleration.value == taint.value);
}

std::string text(const LabelRule& rule) {
  const std::string key = rule.of_name ? "metadata.name" : rule.key;
  if (rule.values.empty()) return key + " " + rule.comparison;
  return fmt::format("{} {} [{}]", key, rule.comparison, fmt::join(rule.values, ", "));
}

void read_rules(const json& term, const char* list, bool of_name, std::vector<LabelRule>& rules) {
  for (const json& rule : term.value(list, json::array())) {
    rules.push_back({rule.value("key", ""), rule.value("operator", ""),
                     rule.value("values", std::vector<std::string>()), of_name});
  }
}

void read_affinity(const json& spec, NodeFilter& filter) {
  const json required = spec.value("affinity", json::object())
                            .value("nodeAffinity", json::object())
                            .value("requiredDuringSchedulingIgnoredDuringExecution", json::object());
  for (const json& term : required.value("nodeSelectorTerms", json::array())) {
    auto& rules = filter.terms.emplace_back();
    read_rules(term, "matchExpressions", false, rules);
    read_rules(term, "matchFields", true, rules);
  }
}

}  // namespace

NodeFilter NodeFilter::of_template(const std::string& pod_template) {
  NodeFilter filter;
  if (pod_template.empty()) return filter;
  try {
    const json spec = json::parse(pod_template).value("spec", json::object());
    for (const auto& [key, value] : spec.value("nodeSelector", json::object()).items())
      filter.selector.push_back({key, "In", {value.get<std::string>()}, false});
    read_affinity(spec, filter);
    for (const json& t : spec.value("tolerations", json::array()))
      filter.tolerations.push_back(
          {t.value("key", ""), t.value("operator", "Equal"), t.value("value", ""), t.value("effect", "")});
  } catch (const json::exception& error) {
    fail("template.spec: nodeSelector, affinity or tolerations are not as in a pod: {}", error.what());
  }
  return filter;
}

std::string NodeFilter::refusal(const NodeState& node) const {
  if (!node.ready) return "is not ready";
  if (node.cordoned) return "is cordoned";
  if (excluded.contains(node.name)) return "failed before";
  for (const Taint& taint : node.taints) {
    const bool matters = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (matters &&
        std::ranges::none_of(tolerations, [&](const Toleration& t) { return tolerates(t, taint); }))
      return fmt::format("has the taint {}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                         taint.effect);
  }
  for (const LabelRule& rule : selector)
    if (!holds(rule, node)) return fmt::format("has not {}={}", rule.key, rule.values[0]);
  const bool chosen = terms.empty() || std::ranges::any_of(terms, [&](const auto& term) {
                        return !term.empty() && all_hold(term, node);
                      });
  if (chosen) return {};
  return terms.size() == 1 && !terms[0].empty()
             ? "is not " + text(*std::ranges::find_if(
                               terms[0], [&](const LabelRule& rule) { return !holds(rule, node); }))
             : "matches no term of the template's node affinity";
}

}  // namespace atl::ctl
