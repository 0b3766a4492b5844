// The nodes that a queue assigns to a job's pods, and the request that a job makes for nodes.
//
// With Kueue's topology-aware scheduling, a queue assigns nodes to a job's pods. The pods may use no other
// nodes, whether the job asked for a topology or not, because Kueue counts them there. The operator decides
// which server takes which of the assigned places.
//
// If a node is lost, Kueue waits until none of the job's pods runs on it, and then assigns another node
// instead. The rest of the admission stays. So a lost pod is deleted as it would be without a queue. Its
// successor stays gated until there is a place for it. If Kueue finds no such place, it evicts the job.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "operator/controller/gang_view.h"
#include "operator/controller/places.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

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
  // mpi-operator makes pods from the MPIJob of the attempt's begin, which may lack our marks for Kueue.
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
  return fmt::format("its queue looks for nodes instead of {}", joined(assigned->lost, ", "));
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
                       joined(assigned->lost, ", "));
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

// The request for a topology of a job with placement.within. Which request is right depends on the job's
// queue: on the ResourceFlavors of the ClusterQueue behind it.
//
// The job requests a topology only if every flavor of the queue names a Topology. Kueue's rules
// (checkPodSetAndFlavorMatchForTAS) are these. Pods with a request get no flavor without a Topology. Pods
// without a request get no flavor with one, unless the queue has no others. In such a queue Kueue assigns
// nodes unasked, and without a request these may be in any domain. In a queue with both kinds, a job without
// a request gets a flavor without a Topology, as jobs without `within` do. The operator then finds a domain
// by itself. A request would bar the job from those flavors, for good if no Topology has the level.
//
// No watch reports changes of queues. So a waiting job asks again from time to time. While a Workload has no
// quota, it is made again if its request is no longer right. A Workload that was admitted without a request
// is made again if its nodes can't serve the job and no attempt runs.

namespace {

constexpr std::size_t kLongestLevel = 63;  // Kueue's limit; the key of a label may be longer

/// Whether the assigned nodes are in one domain of the level `within`. Unknown nodes are skipped, because the
/// queue has to replace them anyway.
bool are_in_one_domain(const AssignedNodes& nodes, const Reconcile& reconcile) {
  std::set<std::vector<std::string>> domains;
  for (const auto& [node, pods] : nodes.slots) {
    const auto found = reconcile.seen.nodes.find(node);
    if (found == reconcile.seen.nodes.end() || found->second.is_missing) continue;
    std::vector<std::string> domain;
    for (const std::string& level : reconcile.spec().placement.topology_levels) {
      const auto label = found->second.labels.find(level);
      domain.push_back(label == found->second.labels.end() ? "" : label->second);
      if (level == reconcile.spec().placement.within) break;
    }
    if (domain.empty() || domain.back().empty()) return false;
    domains.insert(std::move(domain));
  }
  return domains.size() <= 1;
}

/// Whether the job made no request, and the queue assigned nodes on which it can't start.
bool has_useless_nodes(const Workload& workload, const Reconcile& reconcile) {
  const auto& nodes = reconcile.job().admitted.worker_nodes;
  const auto asks = workload.asks.find(kWorkerPods);
  return is_admitted(workload) && nodes && asks != workload.asks.end() && !asks->second.is_any() &&
         reconcile.spec().placement.policy == PlacementPolicy::kRequired && !runs(reconcile) &&
         !are_in_one_domain(*nodes, reconcile);
}

/// Whether the job wants a topology, and a queue of this cluster may be able to serve such a request.
bool could_ask(const Reconcile& reconcile) {
  return topology_request(reconcile.spec()).is_any() && !reconcile.seen.topology_flavors.empty();
}

/// Whether the flavors of the job's queue decide what happens to its Workload now.
bool depends_on_queue(const Reconcile& reconcile) {
  const bool is_in_queue =
      reconcile.settings.kueue && !queue_of(reconcile).empty() && !reconcile.spec().run_policy.suspend;
  if (!is_in_queue || !could_ask(reconcile)) return false;
  const ObjectView* place = place_of(reconcile);
  if (!place) return true;
  if (!is_own(place->meta, reconcile.seen) || place->meta.deletion) return false;
  return !place->workload->has_admission || has_useless_nodes(*place->workload, reconcile);
}

}  // namespace

std::optional<TopologyRequest> request_of(const Reconcile& reconcile) {
  if (!could_ask(reconcile)) return TopologyRequest{};
  const auto& answer = reconcile.seen.queue;
  if (!answer || !answer->flavors) return {};
  const bool has_topology =
      !answer->flavors->empty() && std::ranges::includes(reconcile.seen.topology_flavors, *answer->flavors);
  return has_topology ? topology_request(reconcile.spec()) : TopologyRequest{};
}

std::string fault_of_request(const Reconcile& reconcile) {
  const auto request = request_of(reconcile);
  if (!request || request->value.size() <= kLongestLevel) return {};
  return fmt::format(
      "placement.within: the queue {} assigns nodes, and Kueue takes names of levels of at most {} characters; {} "
      "has {} (name another level, or a queue whose flavors have no Topology)",
      queue_of(reconcile), kLongestLevel, request->value, request->value.size());
}

bool is_request_old(const Workload& workload, const Reconcile& reconcile) {
  const auto asks = workload.asks.find(kWorkerPods);
  const auto request = request_of(reconcile);
  if (asks == workload.asks.end() || !request || asks->second == *request) return false;
  return !workload.has_admission || has_useless_nodes(workload, reconcile);
}

Next ask_of_queue(Reconcile& reconcile) {
  if (!depends_on_queue(reconcile)) return Next::kContinue;
  if (!reconcile.seen.queue) {
    reconcile.ask_for_queue(queue_of(reconcile));
    return Next::kDone;
  }
  reconcile.requeue_at(reconcile.seen.queue->until);
  return Next::kContinue;
}

}  // namespace atl::ctl
