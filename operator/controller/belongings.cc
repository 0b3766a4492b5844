// What must be there before the pods: keys, manifest, network policy; and what must be there while they run, whoever takes
// it away. Objects of their names that aren't the job's are left alone, whoever made them.
#include <fmt/format.h>

#include "operator/controller/questions.h"
#include "operator/controller/refusals.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

/// "Pod cora-0-0", or "".
std::string foreign_object(const Observed& seen) {
  for (const ObjectView& object : seen.objects)
    if (!is_own(object.meta, seen)) return fmt::format("{} {}", name_of(object.kind), object.meta.name);
  for (const PodView& pod : seen.pods)
    if (!is_own(pod.meta, seen)) return fmt::format("{} {}", name_of(Kind::kPod), pod.meta.name);
  return {};
}

bool has_workers(const Turn& turn) {
  for (const PodView* worker : turn.gang().workers)
    if (worker) return true;
  return false;
}

/// Secrets can be made here, and nothing else: whose one is that exists already, nobody can say. So a name is drawn that nobody
/// can know beforehand; the status has it before the Secret is made, so that whoever goes on after us finds it; and where
/// somebody was faster all the same, another name is drawn.
bool has_name_for_keys(const Turn& turn) {
  return !turn.status.keys.empty() && turn.status.keys != turn.seen.taken_keys;
}

/// Asked when pods are to be made that mount them, and after a refusal, which may have been theirs. Where the server doesn't say,
/// they are tried again, unless there are pods that may well hold them.
bool are_keys_gone(const Turn& turn) {
  const bool is_prepared =
      turn.find(Kind::kConfigMap, prepared_map_name(turn.name(), turn.job().made_of.prepared));
  const bool is_whole = turn.gang().is_complete() && turn.gang().launcher;
  if (!(is_prepared && !is_whole) && turn.reason_against(kCreated) != kRefused) return false;
  return turn.seen.is_secret_gone(turn.status.keys).value_or(!has_workers(turn));
}

/// Pods hold the keys that there were when they started: others need others.
void make_keys(Turn& turn) {
  if (has_workers(turn)) withdraw(turn, "the Secret with the job's keys is gone; pods get new ones");
  const LoginKeys keys = turn.seen.new_keys();
  if (!has_name_for_keys(turn)) turn.use_keys(keys_name(turn.name(), keys.id));
  turn.create(Kind::kSecret, turn.status.keys, keys_secret(turn.job(), keys));
}

/// The pods that run have read their manifest, and their keys, which others wouldn't fit: those are seen to before the next
/// attempt.
void restore_what_protects(Turn& turn) {
  if (!turn.find(Kind::kNetworkPolicy, turn.name()))
    turn.create(Kind::kNetworkPolicy, turn.name(), network_policy(turn.job(), turn.settings));
}

}  // namespace

bool lacks_belongings(Turn& turn) {
  keep_image(turn);
  if (turn.gang().is_launched) {
    restore_what_protects(turn);
    return false;
  }
  if (const auto foreign = foreign_object(turn.seen); !foreign.empty()) {
    turn.say(kCreated, false, "NameTaken",
             foreign + " has a name that this job needs, but isn't this job's; delete it, or rename the job");
    return true;
  }
  const std::string map = job_map_name(turn.name(), turn.job().made_of.manifest);
  if (!turn.find(Kind::kConfigMap, map) && is_malformed(turn)) return true;
  if (!has_name_for_keys(turn) || are_keys_gone(turn)) make_keys(turn);
  if (!turn.find(Kind::kConfigMap, map)) turn.create(Kind::kConfigMap, map, job_config_map(turn.job()));
  restore_what_protects(turn);
  return turn.has_writes();
}

}  // namespace atl::ctl
