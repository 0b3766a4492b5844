#include "operator/objects/release.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

json step(const char* op, const std::string& path, const json& value) {
  return {{"op", op}, {"path", path}, {"value", value}};
}

json same_pod(const PodView& pod) {
  return step("test", "/metadata/uid", pod.meta.uid);
}

/// Every term gets the node: terms are alternatives, and a gated pod's may only grow narrower.
json narrowed(const PodView& pod, const std::string& node) {
  const json rule = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  json affinity = pod.affinity.empty() ? json::object() : json::parse(pod.affinity);
  json& terms =
      affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = json::array({json::object()});
  for (json& term : terms) term["matchFields"].push_back(rule);
  return affinity;
}

void add_pin(json& patch, const PodView& pod, const std::string& node) {
  if (!pod.pinned.empty()) return;
  if (!pod.affinity.empty()) patch.push_back(step("test", "/spec/affinity", json::parse(pod.affinity)));
  patch.push_back(step("add", "/spec/affinity", narrowed(pod, node)));
}

void add_release(json& patch, const PodView& pod, Moment now) {
  const auto gate = std::ranges::find(pod.gates, kGate);
  ATOLL_CHECK(gate != pod.gates.end(), "{} has no gate to take away", pod.meta.name);
  const std::string path = "/spec/schedulingGates/" + std::to_string(gate - pod.gates.begin());
  patch.push_back(step("test", path + "/name", kGate));
  patch.push_back({{"op", "remove"}, {"path", path}});
  if (pod.meta.annotations.empty())  // the API has no empty ones, and a patch adds to what is there alone
    patch.push_back(step("add", "/metadata/annotations", json::object()));
  // '~1' is JSON Pointer's '/'.
  patch.push_back(step("add", "/metadata/annotations/atoll.dev~1released-at", text_of(now)));
}

}  // namespace

bool is_gated(const PodView& pod) {
  return std::ranges::count(pod.gates, kGate) > 0;
}

std::string pin_patch(const PodView& pod, const std::string& node) {
  json patch = json::array({same_pod(pod)});
  add_pin(patch, pod, node);
  return patch.dump();
}

std::string release_patch(const PodView& pod, Moment now) {
  json patch = json::array({same_pod(pod)});
  add_release(patch, pod, now);
  return patch.dump();
}

std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now) {
  json patch = json::array({same_pod(pod)});
  add_pin(patch, pod, node);
  add_release(patch, pod, now);
  return patch.dump();
}

}  // namespace atl::ctl
