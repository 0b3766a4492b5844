#include "operator/controller/withdraw.h"

#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kSlack{5};  // a living kubelet removes a pod within it once its grace is over

bool answers(const Turn& turn, const std::string& node) {
  const auto found = turn.seen.nodes.find(node);
  return found != turn.seen.nodes.end() && found->second.ready;
}

}  // namespace

void dismiss(Turn& turn, const PodView& pod, std::optional<int> grace) {
  if (!pod.is_terminating()) return turn.remove(Kind::kPod, pod.meta, grace);
  const Moment hangs = *pod.meta.deletion + kSlack;
  if (!pod.is_bound() || answers(turn, pod.node)) return;
  if (turn.now() < hangs) return turn.look_at(hangs);
  turn.remove(Kind::kPod, pod.meta, 0);
}

void give_up_plan(Turn& turn, const char* reason, const std::string& message) {
  if (turn.reason_against(kPlaced) != reason) ++turn.status.withdrawals;
  turn.say(kPlaced, false, reason, message);
}

void withdraw(Turn& turn, const std::string& message) {
  give_up_plan(turn, kWithdrawn, message);
  if (turn.spec().launcher == Launcher::kMpiJob)
    turn.end_attempt();  // all of it is a leftover then
  else
    dismiss_withdrawn(turn);
}

void dismiss_withdrawn(Turn& turn) {
  if (turn.reason_against(kPlaced) != kWithdrawn) return;
  for (const PodView* worker : turn.gang().workers)
    if (worker && !is_gated(*worker)) dismiss(turn, *worker);
  // A pin can't be changed, and what the next plan says is not known yet.
  const PodView* launcher = turn.gang().launcher;
  if (launcher && !launcher->pinned.empty()) dismiss(turn, *launcher);
}

}  // namespace atl::ctl
