#include "operator/controller/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "job/strategies.h"
#include "operator/api/messages.h"
#include "operator/controller/steps.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr int kMostFailures = 2;      // a node that failed so often is avoided; one GPU failure suffices
constexpr Seconds kRemembered{3600};  // a failure is then forgotten: the node is mended, or fails again

/// The prepare step's results; null where it didn't partition the graph for the job's number of ranks.
const Prepared* known_parts(const Reconcile& reconcile) {
  const Prepared* prepared = reconcile.findings();
  return prepared && prepared->ranks == reconcile.spec().placement.ranks ? prepared : nullptr;
}

/// Whether the node is to blame for the restart. A rank would run out of memory on any node.
bool is_of_node(const Restart& restart) {
  return is_of_gpu(restart.reason) || restart.reason == "NodeLost" || restart.reason == "Lost" ||
         restart.reason == "Rejected" || restart.culprit.signal == "SIGBUS";
}

std::set<std::string> bad_nodes(const Reconcile& reconcile) {
  std::map<std::string, int> failures;
  for (const Restart& restart : reconcile.status.restarts)
    if (is_of_node(restart) && reconcile.now() - restart.time < kRemembered)
      failures[restart.culprit.node] += is_of_gpu(restart.reason) ? kMostFailures : 1;
  std::set<std::string> bad;
  for (const auto& [node, count] : failures)
    if (count >= kMostFailures && !node.empty()) bad.insert(node);
  return bad;
}

bool stands(const PodView* worker) {
  return worker && !is_gated(*worker);
}

std::vector<std::string> standing_nodes(const Reconcile& reconcile) {
  std::vector<std::string> nodes;
  for (const PodView* worker : reconcile.gang().workers)
    if (stands(worker)) nodes.push_back(where(*worker));
  return nodes;
}

/// Some servers of the gang as a gang of its own. Other servers' pods take room like another job's.
Gang part_of(const Gang& gang, const std::vector<int>& servers) {
  Gang part = gang;
  part.job.clear();
  part.servers.clear();
  std::map<int, int> place;
  for (const int server : servers) {
    place[server] = int(part.servers.size());
    part.servers.push_back(gang.servers[std::size_t(server)]);
  }
  std::vector<PairBytes> flows;
  for (const int a : servers)
    for (const auto& [b, bytes] : gang.traffic.peers(a))
      if (a < b && place.contains(b)) flows.push_back({place[a], place[b], bytes});
  part.traffic = Traffic(int(servers.size()), flows);
  return part;
}

/// The rule that admits the nodes whose label has the same value as on one of `nodes`. If none of `nodes` has
/// the label, the rule admits the nodes without it.
LabelRule same_label(const std::string& label, const std::vector<std::string>& nodes,
                     const Reconcile& reconcile) {
  std::set<std::string> values;
  bool is_any_known = false;
  for (const std::string& node : nodes) {
    const auto found = reconcile.seen.nodes.find(node);
    if (found == reconcile.seen.nodes.end() || found->second.is_missing) continue;
    is_any_known = true;
    const auto& labels = found->second.labels;
    if (const auto value = labels.find(label); value != labels.end()) values.insert(value->second);
  }
  const bool is_unlabelled = is_any_known && values.empty();
  return {label, is_unlabelled ? "DoesNotExist" : "In", {values.begin(), values.end()}, false};
}

/// The rules that admit the domains of a level in which `nodes` lie. They name the labels of all levels from
/// the coarsest down to this one, because two zones may each have a rack of the same name.
std::vector<LabelRule> same_domains(const Gang& gang, std::size_t level,
                                    const std::vector<std::string>& nodes, const Reconcile& reconcile) {
  if (level + 1 == gang.levels.size()) return {{"metadata.name", "In", nodes, true}};
  std::vector<LabelRule> rules;
  for (std::size_t l = 0; l <= level; ++l) rules.push_back(same_label(gang.levels[l], nodes, reconcile));
  return rules;
}

/// Ever larger sets of nodes in which a place is looked for. First come the nodes where the pods ran before.
/// Then come the domains of the remaining pods, from the finest level up. Last comes the whole cluster, or
/// the domain that must hold the whole gang.
std::vector<std::vector<LabelRule>> circles(const Reconcile& reconcile, const Gang& gang,
                                            const std::vector<std::string>& before,
                                            const std::vector<std::string>& standing) {
  std::vector<LabelRule> always;
  if (gang.within >= 0) always = same_domains(gang, std::size_t(gang.within), standing, reconcile);
  std::vector<std::vector<LabelRule>> all;
  auto add = [&](const std::vector<LabelRule>& rules) {
    const auto is_of_none = [](const LabelRule& r) { return r.comparison == "In" && r.values.empty(); };
    if (std::ranges::any_of(rules, is_of_none)) return;
    all.push_back(always);
    std::ranges::copy(rules, std::back_inserter(all.back()));
  };
  add({{"metadata.name", "In", before, true}});
  for (std::size_t level = gang.levels.size() - 1; level-- > 0;)
    add(same_domains(gang, level, standing, reconcile));
  all.push_back(always);
  return all;
}

// Names of the gang's pods, whether they exist yet or not.

std::string worker_of(const Reconcile& reconcile, std::size_t server) {
  if (const PodView* worker = reconcile.gang().workers[server]) return worker->meta.name;
  return worker_name(reconcile.name(), int(server), next_incarnation(reconcile, server));
}

std::string launcher_of(const Reconcile& reconcile) {
  if (const PodView* launcher = reconcile.gang().launcher) return launcher->meta.name;
  return launcher_name(reconcile.name(), reconcile.attempt());
}

/// The workers of these servers, and the launcher.
std::vector<std::string> pods_of(const Reconcile& reconcile, const std::vector<int>& servers) {
  std::vector<std::string> pods;
  for (const int server : servers) pods.push_back(worker_of(reconcile, std::size_t(server)));
  pods.push_back(launcher_of(reconcile));
  return pods;
}

GangPlan plan_within(const Reconcile& reconcile, Gang part, const std::vector<std::string>& pods,
                     const std::vector<std::vector<LabelRule>>& circles) {
  const NodeFilter filter = part.filter;
  GangPlan plan;
  for (const auto& rules : circles) {
    part.filter = filter;
    std::ranges::copy(rules, std::back_inserter(part.filter.selector));
    plan = reconcile.seen.cluster->plan(part, pods);
    if (plan.fits) break;
  }
  return plan;
}

GangPlan plan_missing(const Reconcile& reconcile, const Gang& gang, const std::vector<int>& waiting) {
  std::vector<std::string> before;
  for (const int server : waiting)
    if (std::size_t(server) < reconcile.status.servers.size())
      before.push_back(reconcile.status.servers[std::size_t(server)].node);
  Gang part = part_of(gang, waiting);
  leave_to_others(part, standing_nodes(reconcile));
  const PodView* launcher = reconcile.gang().launcher;
  if (launcher && !launcher->pinned.empty()) part.launcher = {}, part.launcher_on.clear();
  GangPlan plan = plan_within(reconcile, part, pods_of(reconcile, waiting),
                              circles(reconcile, gang, before, standing_nodes(reconcile)));
  if (!plan.fits) return plan;
  std::vector<std::string> nodes;
  std::size_t next = 0;
  for (const PodView* worker : reconcile.gang().workers)
    nodes.push_back(stands(worker) ? where(*worker) : plan.nodes[next++]);
  plan.nodes = std::move(nodes);
  return plan;
}

/// The nodes for pods of one kind: those that the template and the queue allow (`admitted`), and that an
/// existing pod of that kind allows (`made`, null where there is none).
NodeFilter filter_of(const Reconcile& reconcile, const std::string& admitted, const PodView* made) {
  NodeFilter filter = ctl::filter_of(reconcile.spec(), reconcile.settings.gpu_resource);
  filter.join(NodeFilter::of_template(admitted));
  filter.demand_platform(reconcile.settings.architectures);
  if (made) filter.join_admitted(NodeFilter::of_template(made->node_rules));
  filter.excluded = bad_nodes(reconcile);
  const bool has_our_engine = reconcile.spec().image.empty();  // what other engines need isn't known
  if (reconcile.spec().resources.gpus > 0 && has_our_engine)
    filter.oldest_driver = reconcile.settings.oldest_driver;
  return filter;
}

GangPlan plan_together(const Reconcile& reconcile, const Gang& gang) {
  const auto waiting = waiting_servers(reconcile);
  const bool is_whole = waiting.size() == gang.servers.size();
  const auto plan_for = [&](const Gang& any) {
    return is_whole ? reconcile.seen.cluster->plan(any, pods_of(reconcile, waiting))
                    : plan_missing(reconcile, any, waiting);
  };
  GangPlan plan = plan_for(gang);
  if (plan.fits || gang.within < 0 || reconcile.spec().placement.policy != PlacementPolicy::kPreferred)
    return plan;
  Gang anywhere = gang;
  anywhere.within = -1;
  return plan_for(anywhere);
}

}  // namespace

std::vector<int> waiting_servers(const Reconcile& reconcile) {
  std::vector<int> waiting;
  for (std::size_t s = 0; s < reconcile.gang().workers.size(); ++s)
    if (!stands(reconcile.gang().workers[s])) waiting.push_back(int(s));
  return waiting;
}

int next_incarnation(const Reconcile& reconcile, std::size_t server) {
  int next = reconcile.attempt() - 1;
  for (const PodView* pod : reconcile.gang().replaced) {
    const std::string number = pod->meta.label(kIncarnationLabel);
    if (pod->meta.label(kServerLabel) == std::to_string(server) && !number.empty())
      next = std::max(next, std::stoi(number) + 1);
  }
  return next;
}

Prepared prepared_for_ranks(const Reconcile& reconcile) {
  const Prepared* prepared = known_parts(reconcile);
  if (!prepared) return {};
  return {prepared->checksum, prepared->ranks, prepared->parts, {}, 0, chosen_strategy(reconcile)};
}

std::string chosen_strategy(const Reconcile& reconcile) {
  const Prepared* prepared = known_parts(reconcile);
  return prepared && reconcile.spec().strategy.row->stands_for_another() ? prepared->strategy : "";
}

NodeFilter nodes_for_workers(const Reconcile& reconcile) {
  const auto& workers = reconcile.gang().workers;  // all gated workers are alike
  const auto gated = std::ranges::find_if(workers, [](const PodView* pod) { return pod && is_gated(*pod); });
  return filter_of(reconcile, reconcile.job().admitted.workers, gated == workers.end() ? nullptr : *gated);
}

Gang gang_to_place(const Reconcile& reconcile) {
  const Prepared* prepared = known_parts(reconcile);
  Gang gang = gang_of(reconcile.spec(),
                      prepared ? std::optional(all_flows(*prepared, reconcile.gang().servers)) : std::nullopt,
                      reconcile.settings.gpu_resource);
  if (!reconcile.gang().is_whole()) count_pods(reconcile.job(), reconcile.settings, gang);
  for (const PodView* worker : reconcile.gang().workers)
    if (worker) gang.server.at_least(worker->requests);
  if (reconcile.gang().launcher) gang.launcher.at_least(reconcile.gang().launcher->requests);
  gang.filter = nodes_for_workers(reconcile);
  if (const auto* nodes = only_nodes(reconcile.job().admitted.worker_nodes)) gang.assigned = nodes->slots;
  return gang;
}

GangPlan plan_places(const Reconcile& reconcile, const Gang& gang) {
  const Admitted& admitted = reconcile.job().admitted;
  const AssignedNodes* assigned = only_nodes(admitted.launcher_nodes);
  if (admitted.launcher == admitted.workers && !assigned) return plan_together(reconcile, gang);
  // The queue has assigned the launcher a node or a flavor of its own. With a node, the plan reserves its
  // room there; with only a flavor, the launcher is placed when it starts.
  Gang placed = gang;
  placed.launcher_on = assigned ? assigned->slots.begin()->first : "";
  if (!assigned) placed.launcher = {};
  GangPlan plan = plan_together(reconcile, placed);
  if (!assigned) plan.launcher.clear();
  return plan;
}

std::string why_no_launcher_on(const Reconcile& reconcile, const std::string& node) {
  const auto found = reconcile.seen.nodes.find(node);
  if (found == reconcile.seen.nodes.end() || found->second.is_missing) return "is gone";
  const NodeView& view = found->second;
  const AssignedNodes* assigned = only_nodes(reconcile.job().admitted.launcher_nodes);
  if (assigned && !assigned->slots.contains(node)) return "is not the one that its queue assigned";
  return filter_of(reconcile, reconcile.job().admitted.launcher, reconcile.gang().launcher)
      .refusal({node, view.labels, view.taints, view.cordoned, view.ready, {}});
}

std::string place_for_launcher(const Reconcile& reconcile) {
  Gang alone = gang_to_place(reconcile);
  alone.filter = filter_of(reconcile, reconcile.job().admitted.launcher, reconcile.gang().launcher);
  alone.assigned.reset();
  if (const auto* nodes = only_nodes(reconcile.job().admitted.launcher_nodes)) alone.assigned = nodes->slots;
  alone.job.clear();
  alone.servers = {{0}};
  alone.server = std::exchange(alone.launcher, {});
  alone.traffic = Traffic(1, {});
  std::erase_if(alone.volumes, [](const GangVolume& volume) { return volume.mounters != Mounters::kAll; });
  alone.within = -1;
  const GangPlan plan = plan_within(reconcile, alone, {launcher_of(reconcile)},
                                    {{{"metadata.name", "In", standing_nodes(reconcile), true}}, {}});
  return plan.fits ? plan.nodes[0] : "";
}

}  // namespace atl::ctl
