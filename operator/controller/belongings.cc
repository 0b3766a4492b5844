// Objects that must exist before the pods (keys, manifest, network policy), and those that are restored while
// the pods run if anybody removes them. Objects that have these names but aren't the job's are left alone.
#include <fmt/format.h>
#include <algorithm>

#include "operator/controller/decide.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

/// The first that has a name of ours but isn't the job's: "Pod cora-0-0"; or "". Nobody needs placeholders.
std::string foreign_object(const Observed& seen) {
  const auto is_foreign = [&](const Meta& meta) {
    return !is_own(meta, seen) && !meta.name.starts_with(room_prefix(seen.job.meta.name));
  };
  for (const ObjectView& object : seen.objects)
    if (is_foreign(object.meta)) return fmt::format("{} {}", name_of(object.kind), object.meta.name);
  for (const PodView& pod : seen.pods)
    if (is_foreign(pod.meta)) return fmt::format("{} {}", name_of(Kind::kPod), pod.meta.name);
  return {};
}

bool has_workers(const Reconcile& reconcile) {
  for (const PodView* worker : reconcile.gang().workers)
    if (worker) return true;
  return false;
}

/// The operator may create Secrets but not read them, so it can't tell whose an existing one is. It draws a
/// name that nobody can guess, and writes that to the status before it makes the Secret, so that a successor
/// finds it. If somebody takes the name first all the same, another is drawn.
bool has_name_for_keys(const Reconcile& reconcile) {
  return !reconcile.status.keys.empty() && reconcile.status.keys != reconcile.seen.taken_keys;
}

/// Whether to ask if the keys are gone: when pods that mount them are to be made, and after a refusal, which
/// may be due to them. Where the server doesn't say, the keys are made again, unless there are pods that may
/// well hold them.
bool may_keys_be_gone(const Reconcile& reconcile) {
  const bool is_prepared =
      reconcile.find(Kind::kConfigMap, prepared_map_name(reconcile.name(), reconcile.job().made_of.prepared));
  const bool is_whole = reconcile.gang().is_complete() && reconcile.gang().launcher;
  return (is_prepared && !is_whole) || reconcile.reason_against(kCreated) == kRefused;
}

/// Running pods hold the keys of their start, so they are withdrawn before the job gets new keys.
void make_keys(Reconcile& reconcile) {
  if (has_workers(reconcile))
    withdraw(reconcile, "the Secret with the job's keys is gone; pods get new ones");
  const LoginKeys keys = reconcile.seen.cluster->new_keys();
  if (!has_name_for_keys(reconcile)) reconcile.use_keys(keys_name(reconcile.name(), keys.id));
  reconcile.create(Kind::kSecret, reconcile.status.keys, keys_secret(reconcile.job(), keys));
}

/// Pods that run have read their manifest and their keys, and other keys wouldn't fit. So only the network
/// policy is restored here; the rest is restored before the next attempt.
void restore_what_protects(Reconcile& reconcile) {
  if (!reconcile.find(Kind::kNetworkPolicy, reconcile.name()))
    reconcile.create(Kind::kNetworkPolicy, reconcile.name(),
                     network_policy(reconcile.job(), reconcile.settings));
}

}  // namespace

Next make_belongings(Reconcile& reconcile) {
  keep_image(reconcile);
  if (reconcile.gang().is_launched) {
    restore_what_protects(reconcile);
    return Next::kContinue;
  }
  if (const auto foreign = foreign_object(reconcile.seen); !foreign.empty()) {
    reconcile.say(
        kCreated, false, "NameTaken",
        foreign + " has a name that this job needs, but isn't this job's; delete it, or rename the job");
    return Next::kDone;
  }
  const std::string map = job_map_name(reconcile.name(), reconcile.job().made_of.manifest);
  if (!reconcile.find(Kind::kConfigMap, map) && refuse_malformed(reconcile) == Next::kDone)
    return Next::kDone;
  const bool is_asked = has_name_for_keys(reconcile) && may_keys_be_gone(reconcile);
  const auto& answer = reconcile.seen.secret;
  if (is_asked && !answer) {
    reconcile.ask_for_secret(reconcile.status.keys);
    return Next::kDone;
  }
  const bool are_gone = is_asked && answer->is_gone.value_or(!has_workers(reconcile));
  if (!has_name_for_keys(reconcile) || are_gone) make_keys(reconcile);
  if (!reconcile.find(Kind::kConfigMap, map))
    reconcile.create(Kind::kConfigMap, map, job_config_map(reconcile.job()));
  restore_what_protects(reconcile);
  return done_if(reconcile.has_writes());
}

// Which engine image a job's pods run: the same in all of them, because ranks of two builds refuse each
// other. It is chosen when the first pod is made, and kept when the operator's default changes. Once a pod
// reports the image's digest, moving the tag changes nothing either.

namespace {

/// "registry:5000/atoll/engine" of "registry:5000/atoll/engine:1".
std::string repository_of(const std::string& image) {
  const auto name = image.rfind('/') + 1;  // 0 where there is none
  return image.substr(0, image.find_first_of(":@", name));
}

/// The image by its digest, a name that never means another. "" where kubelet reports no digest: an image
/// that was loaded into a node has none in a registry. `id`: kubelet's, which writes out short names of the
/// Docker Hub.
std::string by_digest(const std::string& image, std::string id) {
  if (const auto scheme = id.find("://"); scheme != std::string::npos) id.erase(0, scheme + 3);
  const auto digest = id.find("@sha256:");
  if (digest == std::string::npos) return {};
  const std::string told = id.substr(0, digest), named = repository_of(image);
  const bool is_same = told == named || told == "docker.io/" + named || told == "docker.io/library/" + named;
  return is_same ? named + id.substr(digest) : "";
}

}  // namespace

void keep_image(Reconcile& reconcile) {
  std::string image = reconcile.job().made_of.image;
  for (const PodView& pod : reconcile.seen.pods) {
    if (!is_own(pod.meta, reconcile.seen)) continue;
    if (image.empty()) image = pod.image;  // made by an operator that recorded no image
    const ContainerView* engine = pod.container(kEngine);
    if (!engine || pod.image != image || image.find('@') != std::string::npos) continue;
    // Nodes that never pull know the image by its tag alone.
    if (reconcile.settings.pull_policy == "Never") continue;
    if (const std::string pinned = by_digest(image, engine->image_id); !pinned.empty()) image = pinned;
  }
  reconcile.use_image(image.empty() ? engine_image(reconcile.job(), reconcile.settings) : image);
}

}  // namespace atl::ctl
