#include "operator/objects/template.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "job/quantity.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
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

/// Appends items to a list. An item replaces one of the same name.
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

/// Merges the launcher's resources. The API server refuses requests above their limits. If the template
/// states only one of the two, ours is adapted to it.
void merge_launcher(json& ours, const json& given) {
  ours.merge_patch(given);
  const auto amount_of = [&](const char* kind, const std::string& name) {
    return parse_quantity(text_of(member(member(ours, kind), name.c_str())));
  };
  for (const auto& [kind, other] : {std::pair("requests", "limits"), std::pair("limits", "requests")})
    for (const auto& [name, amount] : member(given, kind).items()) {
      const auto request = amount_of("requests", name), limit = amount_of("limits", name);
      const bool is_said = member(given, other).contains(name);
      if (!is_said && request && limit && *request > *limit) ours[other][name] = amount;
    }
}

/// `whose` is the name of the template's container that has the resources of such a pod; "" if there is none.
void merge_engine(json& engine, const json& given, std::string_view whose) {
  if (text_of(given, "name") != kLauncherRole) return merge_container(engine, given, whose == kEngine);
  const json& resources = member(given, "resources");
  if (whose == kLauncherRole && resources.is_object()) merge_launcher(engine["resources"], resources);
}

void merge_spec(json& spec, const json& given, std::string_view whose) {
  for (const auto& [key, value] : given.items()) {
    if (key == "containers")
      for (const json& container : value) merge_engine(spec["containers"][0], container, whose);
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

void merge(json& pod, const json& given, std::string_view whose) {
  if (!given.is_object()) return;
  for (const char* map : {"labels", "annotations"}) {
    const json& texts = member(member(given, "metadata"), map);
    if (texts.is_object()) pod["metadata"][map].merge_patch(texts);
  }
  const json& spec = member(given, "spec");
  if (spec.is_object()) merge_spec(pod["spec"], spec, whose);
}

}  // namespace

void merge_template(json& pod, const Job& job, const char* role) {
  const std::string_view of = role;
  merge(pod, template_of(job), of == kWorkerRole ? kEngine : of == kLauncherRole ? kLauncherRole : "");
}

void merge_admitted(json& pod, const GnnJob& job, const char* role) {
  const bool is_launcher = role == std::string_view(kLauncherRole);
  const std::string& admitted = is_launcher ? job.admitted.launcher : job.admitted.workers;
  if (!admitted.empty()) merge(pod, parse_json(admitted), "");
  const auto& nodes = is_launcher ? job.admitted.launcher_nodes : job.admitted.worker_nodes;
  if (!nodes) return;
  json& metadata = pod["metadata"];
  metadata["annotations"][nodes->asked.annotation()] = nodes->asked.value;
  if (!only_nodes(nodes)) return;  // Kueue ends marked pods on nodes that it hasn't assigned
  metadata["labels"][kPodSetLabel] = is_launcher ? kLauncherPods : kWorkerPods;
  metadata["annotations"][kWorkloadAnnotation] = workload_name(job.meta.name);
}

// Faults that only the API server can judge. They are found with one pod that has all that the manifest
// gives.

namespace {

using nlohmann::json;

/// Whether the volume needs no judging, because it names a claim or is empty.
bool is_plain(const std::string& volume) {
  if (volume.empty()) return true;
  const json source = parse_json(volume);
  if (source == json{{"emptyDir", json::object()}}) return true;
  const json& claim = member(source, "persistentVolumeClaim");
  return source.size() == 1 && claim.size() == 1 && member(claim, "claimName").is_string();
}

bool is_to_be_tried(const Job& job) {
  return !job.template_.empty() || !is_plain(job.dataset.volume) || !is_plain(job.dataset.prepared) ||
         !is_plain(job.output.volume);
}

/// The place in the manifest that an item of one of the pod's lists comes from.
std::string place_of(const json& pod, const std::string& list, std::size_t index) {
  const json& items = member(member(pod, "spec"), list.c_str());
  const std::string name = index < items.size() ? text_of(items[index], "name") : "";
  if (list == "volumes" && name == "data") return "dataset.volume";
  if (list == "volumes" && name == "prepared") return "dataset.prepared";
  if (list == "volumes" && name == "output") return "output.volume";
  return fmt::format("template.spec.{}[{}]", list, name);
}

/// Translates the beginning of `path` ("spec.volumes[4]", or "spec") into a path of the manifest. Also
/// returns how many characters of `path` this replaces.
std::pair<std::string, std::size_t> translated(const json& pod, const std::string& path) {
  const std::size_t open = path.find('['), close = path.find(']');
  const std::size_t end = path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 5);
  if (end != open || close == std::string::npos || !std::isdigit(static_cast<unsigned char>(path[open + 1])))
    return {"template.spec", 4};
  return {place_of(pod, path.substr(5, open - 5), std::stoul(path.substr(open + 1))), close + 1};
}

}  // namespace

std::string trial_pod(const GnnJob& job, const Settings& settings, const std::vector<Rank>& ranks) {
  if (!is_to_be_tried(*job.job)) return {};
  GnnJob tried = job;
  tried.status.keys = kNoKeysYet;
  return worker_pod(tried, settings, 0, ranks, 0);
}

std::string in_manifest(const std::string& words, const std::string& trial) {
  const json pod = parse_json(trial);
  std::string text;
  for (std::size_t at = 0; at < words.size();) {
    const char before = at == 0 ? ' ' : words[at - 1];
    if (words.compare(at, 5, "spec.") != 0 || before == '.' ||
        std::isalnum(static_cast<unsigned char>(before))) {
      text += words[at++];
      continue;
    }
    const auto [path, size] = translated(pod, words.substr(at));
    text += path;
    at += size;
  }
  return text;
}

}  // namespace atl::ctl
