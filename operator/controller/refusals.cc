// Two gangs that each hold half of a quota would wait for each other for ever. So the younger one gives its
// gated pods back, and waits while the older one is refused and holds some. From time to time the older one
// gives its pods back as well, because it may need more than there will ever be.
#include "operator/controller/decide.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <tuple>

#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/release.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTryAgain{10};  // where nothing reports new room
constexpr Seconds kPatience{30};  // for a gang with an older one before it
constexpr Seconds kLongestTry{120}, kFirstRest{60}, kLongestRest{600};  // the oldest gang's
constexpr const char* kGaveWay =
    "; the gang's other pods are withdrawn meanwhile, so that other jobs can have the room";

bool is_refused_pods(const Reconcile& reconcile) {
  return reconcile.reason_against(kCreated) == kRefused && !reconcile.gang().is_launched &&
         !(reconcile.gang().is_complete() && reconcile.gang().launcher) &&
         reconcile.spec().launcher == Launcher::kAtoll;
}

/// The oldest gang tries for a while, rests, tries again, rests for twice as long, and so on. This is a
/// function of the time since the first refusal, so nothing has to be remembered. Nothing: it is a time to
/// try.
std::optional<Moment> end_of_rest(const Reconcile& reconcile) {
  Moment begin = reconcile.since(kCreated);
  for (Seconds rest = kFirstRest;; rest = std::min(2 * rest, kLongestRest)) {
    const Moment tired = begin + kLongestTry;
    if (reconcile.now() < tired) return {};
    begin = tired + rest;
    if (reconcile.now() < begin) return begin;
  }
}

std::optional<Moment> gives_way_until(const Reconcile& reconcile) {
  const bool is_patient = reconcile.now() < reconcile.since(kCreated) + kPatience;
  if (!is_patient && reconcile.seen.cluster->is_another_first()) return reconcile.now() + kTryAgain;
  return end_of_rest(reconcile);
}

}  // namespace

bool is_refused_before(const GnnJob& other, const GnnJob& job) {
  const auto age = [](const GnnJob& j) { return std::tuple(j.meta.created.value_or(Moment{}), j.meta.name); };
  const Condition* created = find_condition(other.status.conditions, kCreated);
  return other.meta.space == job.meta.space && other.meta.uid != job.meta.uid && age(other) < age(job) &&
         !has_ended(other.status.conditions) && created && !created->holds && created->reason == kRefused;
}

Next tell_refusal(Reconcile& reconcile) {
  const auto first = std::ranges::find_if_not(
      reconcile.seen.refusals, [&](const Refusal& refusal) { return is_of_request(refusal, reconcile); });
  if (first == reconcile.seen.refusals.end()) return Next::kContinue;
  reconcile.say(kCreated, false, kRefused,
                fmt::format("{} is refused by the API server: {}", first->object, first->message));
  reconcile.requeue_at(reconcile.now() + kTryAgain);
  return Next::kContinue;  // it may be accepted the next time
}

Next give_way(Reconcile& reconcile) {
  if (!is_refused_pods(reconcile)) return Next::kContinue;
  // Half a gang whose pods have nodes takes room from others.
  if (reconcile.holds(kPlaced)) {
    withdraw(reconcile, find_condition(reconcile.status.conditions, kCreated)->message);
    return Next::kDone;
  }
  const auto until = gives_way_until(reconcile);
  reconcile.requeue_at(until.value_or(reconcile.now() + kTryAgain));
  if (!until) return Next::kContinue;
  std::string message = find_condition(reconcile.status.conditions, kCreated)->message;
  if (!message.ends_with(kGaveWay)) message += kGaveWay;
  reconcile.say(kCreated, false, kRefused, message);
  for (const PodView* worker : reconcile.gang().workers)
    if (worker && is_gated(*worker)) dismiss(reconcile, *worker);
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && is_gated(*launcher)) dismiss(reconcile, *launcher);
  return Next::kDone;
}

// Finds what only the API server can judge of a manifest: pod templates and volumes, which the CRD leaves
// unchecked. Before anything of the job is made, one pod with all of them is tried; a fault in it would be
// one for ever.

namespace {

using nlohmann::json;

/// A volume that names a claim or is empty needs no judging.
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

/// The API server's words, with the pod's paths replaced by the manifest's.
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

Next refuse_malformed(Reconcile& reconcile) {
  if (!is_to_be_tried(reconcile.spec())) return Next::kContinue;
  GnnJob job = reconcile.job();
  job.status.keys = kNoKeysYet;
  const std::string pod = worker_pod(job, reconcile.settings, 0, reconcile.gang().servers[0], 0);
  if (!reconcile.seen.pod_fault) {
    reconcile.ask_for_fault_of(pod);
    return Next::kDone;
  }
  if (reconcile.seen.pod_fault->empty()) return Next::kContinue;
  fail_job(reconcile, "InvalidSpec",
           "the API server refuses pods with this template and these volumes: " +
               in_manifest(json::parse(pod), *reconcile.seen.pod_fault));
  return Next::kDone;
}

}  // namespace atl::ctl
