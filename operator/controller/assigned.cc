// Nodes that a job's queue has assigned to its pods, by Kueue's topology-aware scheduling. They are the only
// ones that the pods may use, whether the job asked for a topology or not, and Kueue counts the pods there.
// Which server takes which place is ours to say.
//
// Where a node is lost, Kueue waits until none of the job's pods runs there any more, and then assigns
// another instead; the rest of the admission stays. So a lost pod goes as it would without a queue, and its
// successor waits, gated, until there is a place for it. Where Kueue finds none, it evicts the job.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "operator/controller/gang_view.h"
#include "operator/controller/places.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

std::string fault_of(const AssignedNodes* nodes, std::size_t pods, const char* what, const std::string& job) {
  if (!nodes) return {};
  if (!nodes->fault.empty()) return nodes->fault;
  if (nodes->pods == std::int64_t(pods)) return {};
  return fmt::format(
      "its queue assigned places to {} pods of the set {}, and the job has {} (delete Workload {}: the job joins the "
      "queue again)",
      nodes->pods, what, pods, workload_name(job));
}

bool takes(std::map<std::string, int>& slots, const std::string& node) {
  const auto found = slots.find(node);
  return found != slots.end() && found->second-- > 0;
}

}  // namespace

std::string fault_of_assigned_nodes(const Reconcile& reconcile) {
  const Admitted& admitted = reconcile.job().admitted;
  std::string fault = fault_of(only_nodes(admitted.worker_nodes), reconcile.gang().servers.size(),
                               kWorkerPods, reconcile.name());
  return fault.empty() ? fault_of(only_nodes(admitted.launcher_nodes), 1, kLauncherPods, reconcile.name())
                       : fault;
}

void set_misplaced_aside(const Observed& seen, GangView& view) {
  const AssignedNodes* assigned = only_nodes(seen.job.admitted.worker_nodes);
  if (!assigned || !assigned->fault.empty()) return;
  // mpi-operator makes pods of what was asked for when the attempt began.
  const bool is_marked_by_us = seen.job.job->launcher != Launcher::kMpiJob;
  std::map<std::string, int> slots = assigned->slots;
  for (const PodView*& worker : view.workers) {
    if (!worker) continue;
    const std::string& node = where(*worker);
    const bool is_marked = !is_marked_by_us || !worker->meta.label(kPodSetLabel).empty();
    if (is_marked && (node.empty() || takes(slots, node))) continue;
    view.replaced.push_back(std::exchange(worker, nullptr));
  }
}

bool is_plan_as_assigned(const Reconcile& reconcile) {
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.worker_nodes);
  if (!assigned) return true;
  std::map<std::string, int> slots = assigned->slots;
  for (const ServerPlace& server : reconcile.status.servers)
    if (!takes(slots, server.node)) return false;
  return true;
}

void leave_to_others(Gang& part, const std::vector<std::string>& nodes) {
  if (!part.assigned) return;
  for (const std::string& node : nodes)
    if (takes(*part.assigned, node) && part.assigned->at(node) == 0) part.assigned->erase(node);
}

std::string what_is_replaced(const Reconcile& reconcile) {
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.worker_nodes);
  if (!assigned || assigned->lost.empty()) return {};
  return fmt::format("its queue looks for nodes instead of {}", fmt::join(assigned->lost, ", "));
}

std::string where_assigned(const Reconcile& reconcile) {
  const auto& assigned = reconcile.job().admitted.worker_nodes;
  if (!assigned) return {};
  if (assigned->level.empty()) return ", which its queue assigned";
  return fmt::format(
      "; its queue assigned domains of {}, which aren't heeded: the lowest level of its Topology is not {}",
      assigned->level, kHostnameLabel);
}

std::string why_no_launcher_as_assigned(const Reconcile& reconcile) {
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.launcher_nodes);
  if (!assigned) return {};
  if (assigned->slots.empty())
    return fmt::format("its queue looks for another node for the launcher instead of {}",
                       fmt::join(assigned->lost, ", "));
  const std::string& node = assigned->slots.begin()->first;
  const std::string refusal = why_no_launcher_on(reconcile, node);
  return refusal.empty() ? ""
                         : fmt::format("{}, which its queue assigned to the launcher, {}", node, refusal);
}

std::string why_no_launcher(const Reconcile& reconcile) {
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.launcher_nodes);
  if (!assigned) return "no node has room for the launcher";
  const std::string why = why_no_launcher_as_assigned(reconcile);
  return why.empty() ? fmt::format("{}, which its queue assigned to the launcher, has no room for it",
                                   assigned->slots.begin()->first)
                     : why;
}

}  // namespace atl::ctl
