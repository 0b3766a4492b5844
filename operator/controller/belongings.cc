// Makes the objects that must exist before the pods: keys, manifest, network policy. Restores the policy if
// anybody removes it while the pods run. Leaves other owners' objects of these names alone.
#include <fmt/format.h>
#include <algorithm>

#include "operator/controller/decide.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/settings.h"

namespace atl::ctl {
namespace {

/// The first object that has a name which the job needs but isn't the job's ("Pod cora-0-0"), or "". Names of
/// placeholders don't count, because the job can do without placeholders.
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
  return std::ranges::any_of(reconcile.gang().workers, [](const PodView* worker) { return worker; });
}

/// Whether the status names a Secret that the job can have. The operator may create Secrets but not read
/// them, so it can't tell who owns an existing one. It therefore draws a name that nobody can guess. It
/// writes that name to the status before it makes the Secret, so that its successor finds it. If somebody
/// else has taken the name all the same, another is drawn.
bool has_name_for_keys(const Reconcile& reconcile) {
  return !reconcile.status.keys.empty() && reconcile.status.keys != reconcile.seen.taken_keys;
}

/// Whether to ask the API server if the Secret is gone. That is asked before pods are made that mount it, and
/// after a refusal, which a missing Secret may have caused. If the server doesn't answer, the keys are made
/// again, unless workers exist that may hold the old ones.
bool may_keys_be_gone(const Reconcile& reconcile) {
  constexpr Seconds kKeysAreNew{120};  // nobody is expected to have deleted them so soon
  const bool are_new = reconcile.now() < reconcile.seen.made_keys.value_or(Moment{}) + kKeysAreNew;
  return (reconcile.findings() && !reconcile.gang().is_whole() && !are_new) ||
         reconcile.reason_against(kCreated) == kRefused;
}

/// Running pods hold the keys of their start, so they are withdrawn before the job gets new keys.
void make_keys(Reconcile& reconcile) {
  if (has_workers(reconcile))
    withdraw(reconcile, "the Secret with the job's keys is gone; pods get new ones");
  const LoginKeys keys = reconcile.seen.cluster->new_keys();
  if (!has_name_for_keys(reconcile)) reconcile.use_keys(keys_name(reconcile.name(), keys.id));
  reconcile.create(Kind::kSecret, reconcile.status.keys, keys_secret(reconcile.job(), keys));
}

/// Restores the network policy alone. Running pods have read their manifest and their keys already, and new
/// keys wouldn't match theirs. Those objects are restored before the next attempt.
void restore_what_protects(Reconcile& reconcile) {
  if (!reconcile.find(Kind::kNetworkPolicy, reconcile.name()))
    reconcile.create(Kind::kNetworkPolicy, reconcile.name(),
                     network_policy(reconcile.job(), reconcile.settings));
}

}  // namespace

Next make_belongings(Reconcile& reconcile) {
  reconcile.use_image(image_to_record(reconcile.job(), reconcile.settings, reconcile.seen.pods));
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
  if (has_workers(reconcile) || reconcile.findings()) return done_if(reconcile.has_writes());
  reconcile.next_stage();  // the prepare pod may follow at once, and its manifest is there by then
  return Next::kContinue;
}

}  // namespace atl::ctl
