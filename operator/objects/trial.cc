#include "operator/objects/trial.h"

#include <fmt/format.h>
#include <cctype>
#include <utility>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// A volume that names a claim or is empty needs no judging.
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

/// The place in the manifest of an item of the pod's list.
std::string place_of(const json& pod, const std::string& list, std::size_t index) {
  const json& items = member(member(pod, "spec"), list.c_str());
  const std::string name = index < items.size() ? text_of(items[index], "name") : "";
  if (list == "volumes" && name == "data") return "dataset.volume";
  if (list == "volumes" && name == "prepared") return "dataset.prepared";
  if (list == "volumes" && name == "output") return "output.volume";
  return fmt::format("template.spec.{}[{}]", list, name);
}

/// The path that `path` begins with, "spec.volumes[4]" or "spec", in the manifest's terms; and how much of
/// the text it was.
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
