#include "operator/run/asked.h"

#include <fmt/format.h>
#include <optional>

#include "base/json.h"
#include "base/sha256.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/json_members.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLog = 1 << 20;  // the prepare step's result is the last line
/// The number of lines to ask the kubelet for. Container runtimes count a piece of at most 16 KiB
/// (containerd) or 8 KiB (CRI-O) as a line.
constexpr int kLogLines = 20 + int(kLongestLog / 8192);

/// An object of the API; null if it doesn't exist or can't be read.
struct Found {
  json object;
  std::string problem;  // why the API server doesn't show it
};

Found find(kube::Client& client, const std::string& path) {
  const kube::Answer answer = client.get(path);
  if (answer) return {json_or_discarded(answer.object), ""};
  return {json(), answer.error->is_not_found() ? "" : answer.error->text()};
}

}  // namespace

std::optional<ClaimPlace> ClaimPlaces::known(const std::string& space, const std::string& claim) {
  const Moment now = now_();
  std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto& each) { return each.second.until <= now; });
  const auto found = known_.find(full_name(space, claim));
  return found == known_.end() ? std::nullopt : std::optional(found->second.place);
}

ClaimPlace ClaimPlaces::of(const std::string& space, const std::string& claim) {
  if (auto place = known(space, claim)) return std::move(*place);
  const Moment now = now_();
  ClaimPlace place = ask(space, claim);
  std::lock_guard lock(mutex_);
  known_[full_name(space, claim)] = {place, now + kRemembered};
  return place;
}

ClaimPlace ClaimPlaces::ask(const std::string& space, const std::string& claim) {
  const auto unknown = [&](const std::string& why) {
    return ClaimPlace{{}, fmt::format("where volume claim {} can be used is not known: {}", claim, why)};
  };
  const Found claimed = find(client_, claims_resource().path(space, claim));
  if (!claimed.problem.empty()) return unknown(claimed.problem);
  const ClaimState state = claim_state(claimed.object);
  const bool is_bound = !state.volume.empty();
  if (!is_bound && state.storage_class.empty()) return {{}, "", state.is_of_one_pod};
  const Found holder = find(client_, is_bound ? volumes_resource().path("", state.volume)
                                              : storage_classes_resource().path("", state.storage_class));
  if (!holder.problem.empty()) return unknown(holder.problem);
  return {is_bound ? nodes_of_volume(holder.object) : nodes_of_class(holder.object), "", state.is_of_one_pod};
}

namespace {

/// The digest of everything in a pod that the API server judges. It leaves out the names of the job, its pod
/// and its manifest, so that the pods of jobs which are alike have the same digest. All the rest may come
/// from a template.
std::string digest_without_names(const std::string& pod, const std::string& space) {
  json kind = parse_json(pod);
  json& metadata = kind.at("metadata");
  for (const char* name : {"name", "ownerReferences"}) metadata.erase(name);
  json& labels = metadata["labels"];
  for (const char* label : {kJobLabel, kManifestLabel})
    if (labels.is_object()) labels.erase(label);
  for (json& volume : kind["spec"]["volumes"])
    if (text_of(volume, "name") == kManifestVolume) volume.erase("configMap");
  return sha256_hex(space + " " + kind.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

std::string PodTrials::fault_of(const std::string& pod, const std::string& space) {
  const std::string digest = digest_without_names(pod, space);
  {
    std::lock_guard lock(mutex_);
    std::erase_if(sound_, [&, now = now_()](const auto& each) { return each.second <= now; });
    if (sound_.contains(digest)) return {};
  }
  const kube::Answer answer =
      client_.create(resource_of(Kind::kPod).path(space), pod, {.dry_run = true, .is_strict = true});
  if (answer) {
    std::lock_guard lock(mutex_);
    sound_[digest] = now_() + kRemembered;
    return {};
  }
  if (answer.error->is_of_admission()) return {};
  // The pod has an unknown field, a value of a wrong type (a number in env), or a malformed quantity.
  const bool is_unreadable = answer.error->code == 400 &&
                             answer.error->message.find("cannot be handled as a Pod") != std::string::npos;
  return is_unreadable || answer.error->code == 422 ? answer.error->message : "";
}

std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job) {
  const std::string path = resource_of(Kind::kSecret).path(job.meta.space);
  const kube::Answer answer = client.create(path, empty_secret(job, secret), {.dry_run = true});
  if (answer) return true;
  if (answer.error->already_exists()) return false;
  return {};
}

namespace {

/// The object; null if it doesn't exist or may not be read; nothing if the server doesn't answer the
/// question.
std::optional<json> read_if_allowed(kube::Client& client, const std::string& path) {
  constexpr int kForbidden = 403;
  const kube::Answer answer = client.get(path);
  if (answer) return json_or_discarded(answer.object);
  if (answer.error->is_not_found() || answer.error->code == kForbidden) return json();
  return {};
}

}  // namespace

std::optional<QueueAnswer> QueueFlavors::known(const std::string& space, const std::string& queue) {
  const Moment now = now_();
  std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto& each) { return each.second.until <= now; });
  const auto found = known_.find(full_name(space, queue));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

QueueAnswer QueueFlavors::of(const std::string& space, const std::string& queue) {
  if (auto answer = known(space, queue)) return std::move(*answer);
  QueueAnswer answer{ask(space, queue), now_() + kRemembered};
  if (!answer.flavors || answer.flavors->empty()) return answer;
  std::lock_guard lock(mutex_);
  known_[full_name(space, queue)] = answer;
  return answer;
}

/// The flavors of the queue. The set is empty if one of the two queues doesn't exist or may not be read.
/// Nothing if the server doesn't answer the question.
std::optional<std::set<std::string>> QueueFlavors::ask(const std::string& space, const std::string& queue) {
  const auto local = read_if_allowed(client_, local_queues_resource().path(space, queue));
  if (!local) return {};
  const std::string name = cluster_queue_of(*local);
  if (name.empty()) return std::set<std::string>();
  const auto all = read_if_allowed(client_, cluster_queues_resource().path("", name));
  return all ? std::optional(flavors_of(*all)) : std::nullopt;
}

namespace {

/// Reads the log of the prepare pod. Returns false if it can't be had now. A log that is gone for good counts
/// as empty.
bool read_prepare_log(kube::Client& client, Observed& seen) {
  const Meta& meta = seen.job.meta;
  std::string path = resource_of(Kind::kPod).path(meta.space, prepare_name(meta.name)) + "/log";
  kube::add_query(path, "container", kEngine);
  kube::add_query(path, "tailLines", std::to_string(kLogLines));
  kube::add_query(path, "limitBytes", std::to_string(kLongestLog));
  try {
    kube::Answer answer = client.get(path);
    if (!answer && !answer.error->is_not_found() && answer.error->code != 400) return false;
    seen.prepare_log = answer ? std::move(answer.object) : "";
    return true;
  } catch (const kube::TransportError&) {
    return false;
  }
}

}  // namespace

bool answer(const Askers& askers, const Wants& wants, Observed& seen) {
  const auto& [client, trials, queues] = askers;
  if (!wants.pod_fault.empty()) seen.pod_fault = trials.fault_of(wants.pod_fault, seen.job.meta.space);
  if (!wants.secret.empty()) seen.secret = SecretAnswer{is_secret_gone(client, wants.secret, seen.job)};
  if (!wants.queue.empty()) seen.queue = queues.of(seen.job.meta.space, wants.queue);
  return !wants.prepare_log || read_prepare_log(client, seen);
}

}  // namespace atl::ctl
