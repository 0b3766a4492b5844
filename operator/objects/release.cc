// JSON patches that pin a gated pod to a node, and remove its gate.
#include "operator/objects/objects.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

json step(const char* op, const std::string& path, const json& value) {
  return {{"op", op}, {"path", path}, {"value", value}};
}

// '~1' is JSON Pointer's '/'.
constexpr const char *kPinned = "/metadata/annotations/atoll.dev~1pinned-to",
                     *kReleased = "/metadata/annotations/atoll.dev~1released-at",
                     *kHostname = "/spec/nodeSelector/kubernetes.io~1hostname";

/// The beginning of every patch. It tests the pod's UID, unless the pod doesn't exist yet. It also adds the
/// map of annotations if the pod has none, because a patch can't create it on the way.
json patch_of(const PodView& pod) {
  json patch = json::array();
  if (!pod.meta.uid.empty()) patch.push_back(step("test", "/metadata/uid", pod.meta.uid));
  if (pod.meta.annotations.empty()) patch.push_back(step("add", "/metadata/annotations", json::object()));
  return patch;
}

/// The pod's affinity with the node added to every term. Terms are alternatives, and a gated pod's affinity
/// may only be narrowed.
json narrowed(const PodView& pod, const std::string& node) {
  const json rule = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  json affinity = pod.affinity.empty() ? json::object() : parse_json(pod.affinity);
  json& terms =
      affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = json::array({json::object()});
  for (json& term : terms) term["matchFields"].push_back(rule);
  return affinity;
}

void add_pin(json& patch, const PodView& pod, const std::string& node) {
  if (!pod.pinned.empty()) return;
  if (!pod.affinity.empty()) patch.push_back(step("test", "/spec/affinity", parse_json(pod.affinity)));
  patch.push_back(step("add", "/spec/affinity", narrowed(pod, node)));
  // When Kueue looks for pods that wait for a node on which they can't run, it reads only the node selector.
  // Every pod of ours has one already, for its platform.
  if (!pod.meta.label(kPodSetLabel).empty()) patch.push_back(step("add", kHostname, node));
  // The annotation marks our pin. A template's own affinity to one node may look the same, but takes no room.
  patch.push_back(step("add", kPinned, node));
}

void add_release(json& patch, const PodView& pod, Moment now) {
  const auto gate = std::ranges::find(pod.gates, kGate);
  ATOLL_CHECK(gate != pod.gates.end(), "{} has no gate to take away", pod.meta.name);
  const std::string path = "/spec/schedulingGates/" + std::to_string(gate - pod.gates.begin());
  patch.push_back(step("test", path + "/name", kGate));
  patch.push_back({{"op", "remove"}, {"path", path}});
  patch.push_back(step("add", kReleased, text_of(now)));
}

}  // namespace

bool is_gated(const PodView& pod) {
  return std::ranges::count(pod.gates, kGate) > 0;
}

std::string pinned_by(const std::string& patch) {
  for (const json& one : json_or_discarded(patch))
    if (text_of(one, "op") == "add" && text_of(one, "path") == kPinned) return text_of(one, "value");
  return {};
}

std::string pin_patch(const PodView& pod, const std::string& node) {
  json patch = patch_of(pod);
  add_pin(patch, pod, node);
  return patch.dump();
}

std::string release_patch(const PodView& pod, Moment now) {
  json patch = patch_of(pod);
  add_release(patch, pod, now);
  return patch.dump();
}

std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now) {
  json patch = patch_of(pod);
  add_pin(patch, pod, node);
  add_release(patch, pod, now);
  return patch.dump();
}

std::string born_pinned(const std::string& pod, const std::string& node) {
  return parse_json(pod).patch(parse_json(pin_patch(read_pod(pod), node))).dump();
}

std::string born_released(const std::string& pod, const std::string& node, Moment now) {
  return parse_json(pod).patch(parse_json(pin_and_release_patch(read_pod(pod), node, now))).dump();
}

}  // namespace atl::ctl
