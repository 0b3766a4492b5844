#include "operator/objects/template.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

json template_of(const Job& job) {
  json given = job.template_.empty() ? json() : parse_json(job.template_);
  for (const char* map : {"labels", "annotations"}) {
    if (!member(member(given, "metadata"), map).is_object()) continue;
    json& texts = given["metadata"][map];
    for (auto each = texts.begin(); each != texts.end();)
      each = is_mark_of_kueue(each.key()) ? texts.erase(each) : std::next(each);
  }
  return given;
}

void append(json& list, const json& more) {
  if (!list.is_array()) list = json::array();
  for (const json& item : more) list.push_back(item);
}

/// Appends items; replaces those of the same name.
void append_by_name(json& list, const json& more) {
  if (!list.is_array()) list = json::array();
  for (const json& item : more) {
    const auto same = std::ranges::find_if(
        list, [&](const json& old) { return text_of(old, "name") == text_of(item, "name"); });
    if (same == list.end())
      list.push_back(item);
    else
      *same = item;
  }
}

void merge_container(json& container, const json& given, bool with_resources) {
  for (const auto& [key, value] : given.items()) {
    if (key == "name" || (key == "resources" && !with_resources)) continue;
    if (key == "env")
      append_by_name(container[key], value);
    else if (value.is_null())
      container.erase(key);
    else if (value.is_array())
      append(container[key], value);
    else if (value.is_object())
      container[key].merge_patch(value);
    else
      container[key] = value;
  }
}

void merge_spec(json& spec, const json& given, bool with_resources) {
  for (const auto& [key, value] : given.items()) {
    if (key == "containers")
      for (const json& container : value) merge_container(spec["containers"][0], container, with_resources);
    else if (value.is_null())
      spec.erase(key);
    else if (key == "affinity")
      spec[key] = value;
    else if (value.is_array())
      append(spec[key], value);
    else if (value.is_object())
      spec[key].merge_patch(value);
    else
      spec[key] = value;
  }
}

void merge(json& pod, const json& given, bool with_resources) {
  if (!given.is_object()) return;
  for (const char* map : {"labels", "annotations"}) {
    const json& texts = member(member(given, "metadata"), map);
    if (texts.is_object()) pod["metadata"][map].merge_patch(texts);
  }
  const json& spec = member(given, "spec");
  if (spec.is_object()) merge_spec(pod["spec"], spec, with_resources);
}

}  // namespace

void merge_template(json& pod, const Job& job, const char* role) {
  merge(pod, template_of(job), role == std::string_view(kWorkerRole));
}

void merge_admitted(json& pod, const GnnJob& job, const char* role) {
  const bool is_launcher = role == std::string_view(kLauncherRole);
  const std::string& admitted = is_launcher ? job.admitted.launcher : job.admitted.workers;
  if (!admitted.empty()) merge(pod, parse_json(admitted), false);
  const auto& nodes = is_launcher ? job.admitted.launcher_nodes : job.admitted.worker_nodes;
  if (!nodes) return;
  json& metadata = pod["metadata"];
  metadata["annotations"][nodes->asked.annotation()] = nodes->asked.value;
  if (!only_nodes(nodes)) return;  // Kueue would end pods on nodes that it hasn't assigned
  metadata["labels"][kPodSetLabel] = is_launcher ? kLauncherPods : kWorkerPods;
  metadata["annotations"][kWorkloadAnnotation] = workload_name(job.meta.name);
}

}  // namespace atl::ctl
