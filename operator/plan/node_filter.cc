#include "operator/plan/node_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "operator/plan/json_members.h"
#include "operator/plan/snapshot.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

std::optional<long> integer(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Whether Gt or Lt holds. Both compare whole numbers; no other text satisfies either.
bool compares(const std::string& value, const std::string& comparison, const std::string& with) {
  const auto left = integer(value), right = integer(with);
  if (!left || !right) return false;
  return comparison == "Gt" ? *left > *right : comparison == "Lt" && *left < *right;
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
  return value && rule.values.size() == 1 && compares(*value, rule.comparison, rule.values[0]);
}

/// The major version of NVIDIA's driver, if the node's labels tell it.
std::optional<long> driver_of(const NodeState& node) {
  for (const char* label : kDriverLabels)
    if (const auto found = node.labels.find(label); found != node.labels.end()) return integer(found->second);
  return {};
}

bool all_hold(const std::vector<LabelRule>& rules, const NodeState& node) {
  return std::ranges::all_of(rules, [&](const LabelRule& rule) { return holds(rule, node); });
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.comparison == "Exists") return true;
  if (toleration.comparison == "Gt" || toleration.comparison == "Lt")  // since Kubernetes 1.35
    return compares(taint.value, toleration.comparison, toleration.value);
  return !toleration.key.empty() && toleration.value == taint.value;
}

void read_rules(const json& rules, bool of_name, std::vector<LabelRule>& all) {
  for (const json& rule : rules)
    all.push_back(
        {text_of(rule, "key"), text_of(rule, "operator"), texts_of(member(rule, "values")), of_name});
}

}  // namespace

NodeTerms node_terms(const json& selector) {
  NodeTerms terms;
  for (const json& term : member(selector, "nodeSelectorTerms")) {
    auto& rules = terms.emplace_back();
    read_rules(member(term, "matchExpressions"), false, rules);
    read_rules(member(term, "matchFields"), true, rules);
  }
  return terms;
}

bool is_chosen_by(const NodeTerms& terms, const NodeState& node) {
  return std::ranges::any_of(terms, [&](const auto& term) { return !term.empty() && all_hold(term, node); });
}

std::string text(const LabelRule& rule) {
  const std::string key = rule.of_name ? "metadata.name" : rule.key;
  if (rule.values.empty()) return key + " " + rule.comparison;
  return fmt::format("{} {} [{}]", key, rule.comparison, joined(rule.values, ", "));
}

NodeFilter NodeFilter::of_template(const std::string& pod_template) {
  NodeFilter filter;
  if (pod_template.empty()) return filter;
  const json parsed = parse_json(pod_template);
  const json& spec = member(parsed, "spec");
  for (const auto& [key, value] : member(spec, "nodeSelector").items())
    if (!value.is_null()) filter.selector.push_back({key, "In", {text_of(value)}, false});  // null drops it
  filter.terms = node_terms(member(member(member(spec, "affinity"), "nodeAffinity"),
                                   "requiredDuringSchedulingIgnoredDuringExecution"));
  for (const json& t : member(spec, "tolerations"))
    filter.tolerations.push_back(
        {text_of(t, "key"), text_of(t, "operator"), text_of(t, "value"), text_of(t, "effect")});
  return filter;
}

void NodeFilter::join(const NodeFilter& other) {
  std::ranges::copy(other.selector, std::back_inserter(selector));
  std::ranges::copy(other.tolerations, std::back_inserter(tolerations));
}

void NodeFilter::join_admitted(const NodeFilter& pod) {
  for (const LabelRule& rule : pod.selector)
    if (std::ranges::count(selector, rule) == 0) selector.push_back(rule);
  for (const Toleration& one : pod.tolerations)
    if (std::ranges::count(tolerations, one) == 0 && !one.key.starts_with("node.kubernetes.io/"))
      tolerations.push_back(one);
}

void NodeFilter::demand_platform(const std::vector<std::string>& architectures) {
  const auto demand = [this](const char* label, std::vector<std::string> values) {
    if (std::ranges::find(selector, label, &LabelRule::key) == selector.end())
      selector.push_back({label, "In", std::move(values), false});
  };
  demand(kSystemLabel, {kSystem});
  if (!architectures.empty()) demand(kArchitectureLabel, architectures);
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
    if (!holds(rule, node))
      return rule.values.empty() ? "is not " + text(rule)
                                 : fmt::format("has not {}={}", rule.key, joined(rule.values, " or "));
  if (const auto driver = oldest_driver > 0 ? driver_of(node) : std::nullopt;
      driver && *driver < oldest_driver)
    return fmt::format("has NVIDIA's driver {}, and the engine's image needs {} or newer", *driver,
                       oldest_driver);
  if (terms.empty() || is_chosen_by(terms, node)) return {};
  return terms.size() == 1 && !terms[0].empty()
             ? "is not " + text(*std::ranges::find_if(
                               terms[0], [&](const LabelRule& rule) { return !holds(rule, node); }))
             : "matches no term of the template's node affinity";
}

}  // namespace atl::ctl
