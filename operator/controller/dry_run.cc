// What of the manifest only the API server can judge: pod templates and volumes, of which the CRD keeps any field. One pod
// that has all of them is made on trial before anything of the job is made; what is wrong with it would be so for ever.
#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "operator/controller/incident.h"
#include "operator/controller/questions.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// Of a volume that names a claim or is empty there is nothing to judge.
bool is_plain(const std::string& volume) {
  if (volume.empty()) return true;
  const json source = json::parse(volume);
  if (source == json{{"emptyDir", json::object()}}) return true;
  const json& claim = member(source, "persistentVolumeClaim");
  return source.size() == 1 && claim.size() == 1 && member(claim, "claimName").is_string();
}

bool is_to_be_tried(const Job& job) {
  return !job.template_.empty() || !is_plain(job.dataset.volume) || !is_plain(job.dataset.prepared) ||
         !is_plain(job.output.volume);
}

/// Where an item of the pod's list stands in the manifest.
std::string place_of(const json& pod, const std::string& list, std::size_t index) {
  const json& items = member(member(pod, "spec"), list.c_str());
  const std::string name = index < items.size() ? text_of(items[index], "name") : "";
  if (list == "volumes" && name == "data") return "dataset.volume";
  if (list == "volumes" && name == "prepared") return "dataset.prepared";
  if (list == "volumes" && name == "output") return "output.volume";
  return fmt::format("template.spec.{}[{}]", list, name);
}

/// The path that begins there, "spec.volumes[4]" or "spec", as the manifest has it; how much of the text it was.
std::pair<std::string, std::size_t> translated(const json& pod, const std::string& path) {
  const std::size_t open = path.find('['), close = path.find(']');
  const std::size_t end = path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 5);
  if (end != open || close == std::string::npos || !std::isdigit(static_cast<unsigned char>(path[open + 1])))
    return {"template.spec", 4};
  return {place_of(pod, path.substr(5, open - 5), std::stoul(path.substr(open + 1))), close + 1};
}

/// The API server's words, with the manifest's paths in place of the pod's.
std::string in_manifest(const json& pod, const std::string& words) {
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

}  // namespace

bool is_malformed(Turn& turn) {
  if (!is_to_be_tried(turn.spec())) return false;
  GnnJob job = turn.job();
  job.status.keys = kNoKeysYet;
  const std::string pod = worker_pod(job, turn.settings, 0, turn.gang().servers[0], 0);
  const std::string fault = turn.seen.fault_of(pod);
  if (fault.empty()) return false;
  fail_job(turn, "InvalidSpec",
           "the API server refuses pods with this template and these volumes: " +
               in_manifest(json::parse(pod), fault));
  return true;
}

}  // namespace atl::ctl
