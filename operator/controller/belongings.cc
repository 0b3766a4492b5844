// What must be there before the pods: keys, manifest, network policy; and what must be there while they run, whoever takes
// it away. Objects of their names that aren't the job's are left alone, whoever made them.
#include <fmt/format.h>

#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

/// "Secret cora-keys", or "".
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

/// Pods hold the keys that there were when they started: others need others.
void make_keys(Turn& turn) {
  if (has_workers(turn)) withdraw(turn, "the Secret with the job's keys is gone; pods get new ones");
  turn.create(Kind::kSecret, keys_name(turn.name()), keys_secret(turn.job(), turn.seen.new_keys()));
}

/// The pods that run have read their manifest, and their keys, which others wouldn't fit: those are seen to before the next
/// attempt.
void restore_what_protects(Turn& turn) {
  if (!turn.find(Kind::kNetworkPolicy, turn.name()))
    turn.create(Kind::kNetworkPolicy, turn.name(), network_policy(turn.job(), turn.settings));
}

}  // namespace

bool lacks_belongings(Turn& turn) {
  if (turn.gang().is_launched) {
    restore_what_protects(turn);
    return false;
  }
  if (const auto foreign = foreign_object(turn.seen); !foreign.empty()) {
    turn.say(
        kCreated, false, "NameTaken",
        foreign + " has a name that this job needs and isn't its own; delete it, or name the job otherwise");
    return true;
  }
  const std::string map = job_map_name(turn.name(), turn.job().digest);
  if (!turn.find(Kind::kConfigMap, map) && is_malformed(turn)) return true;
  if (!turn.find(Kind::kSecret, keys_name(turn.name()))) make_keys(turn);
  if (!turn.find(Kind::kConfigMap, map)) turn.create(Kind::kConfigMap, map, job_config_map(turn.job()));
  restore_what_protects(turn);
  return turn.has_writes();
}

}  // namespace atl::ctl
