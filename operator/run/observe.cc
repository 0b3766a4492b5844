#include "operator/run/observe.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/json.h"
#include "operator/controller/decide.h"
#include "operator/controller/observed.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

std::map<std::string, NodeView> node_views(const Observed& seen, const Caches& caches, Moment now) {
  std::set<std::string> names;
  for (const PodView& pod : seen.pods) names.insert({pod.node, pod.pinned});
  for (const ServerPlace& server : seen.job.status.servers) names.insert(server.node);
  std::map<std::string, NodeView> views;
  for (const auto& assigned : {seen.job.admitted.worker_nodes, seen.job.admitted.launcher_nodes})
    for (const auto& [node, pods] : assigned.value_or(AssignedNodes()).slots)
      if (caches.node(node)) names.insert(node);  // the queue replaces a node that is missing
  names.erase("");
  for (const std::string& name : names) {
    if (const auto node = caches.node(name))
      views[name] = {node->state.ready, node->since, node->state.labels, node->state.cordoned,
                     node->state.taints};
    else
      views[name] = {
          .ready = false, .since = caches.missed_since(name, now), .labels = {}, .is_missing = true};
  }
  return views;
}

void look_at_queue(Observed& seen, const QueueCaches& queues) {
  seen.queue_priority = queues.priority_of(seen.job);
  seen.topology_flavors = queues.topology_flavors();
  for (const ObjectView& object : seen.objects)
    if (object.workload && object.meta.owner_uid == seen.job.meta.uid)
      seen.job.admitted =
          admitted_pods(*object.workload, [&](const std::string& name) { return queues.flavor(name); });
}

}  // namespace

std::vector<std::string> CachedCluster::other_pods(const std::string& node) {
  std::vector<std::string> names = caches_.others().on(node);
  for (const auto& pod : caches_.pods_on(node))
    if (!pod->has_ended() && caches_.owner_of(*pod) != job_.full_name())
      names.push_back(full_name(pod->meta.space, pod->meta.name));
  return names;
}

/// Whether another job of the namespace comes first, was refused pods too, and holds some.
bool CachedCluster::is_another_first() const {
  const auto holds_some = [&](const GnnJob& other) {
    const auto pods = caches_.pods_of(other.full_name());
    return std::ranges::any_of(pods, [](const auto& pod) { return is_gated(*pod); });
  };
  for (const auto& other : caches_.jobs())
    if (is_refused_before(*other, job_) && holds_some(*other)) return true;
  return false;
}

std::optional<Observed> observe(const std::string& job, const Caches& caches, BesideCaches beside) {
  const auto found = caches.job(job);
  if (!found) return {};
  Observed seen;
  seen.job = *found;
  for (const auto& pod : caches.pods_of(job)) seen.pods.push_back(*pod);
  for (const auto& object : caches.objects_of(job)) seen.objects.push_back(*object);
  for (const Reread& reread : beside.reread)
    if (!put_in(seen, reread)) return {};
  std::ranges::move(beside.feedback.pods, std::back_inserter(seen.pods));
  std::ranges::move(beside.feedback.objects, std::back_inserter(seen.objects));
  seen.taken_keys = std::move(beside.feedback.taken_keys);
  seen.refusals = std::move(beside.feedback.refusals);
  seen.undeleted = std::move(beside.feedback.undeleted);
  if (const QueueCaches* queues = caches.queues()) look_at_queue(seen, *queues);
  seen.nodes = node_views(seen, caches, beside.now);
  seen.heard = std::move(beside.heard);
  seen.silent_rank = beside.silent_rank;
  seen.wrote_status = beside.written.status;
  if (beside.written.keys == seen.job.status.keys) seen.made_keys = beside.written.made_keys;
  seen.now = beside.now;
  return seen;
}

namespace {

void take_out(Observed& seen, const Outdated& object) {
  const auto has_name = [&](const auto& view) { return view.meta.name == object.name; };
  if (object.kind == Kind::kPod)
    std::erase_if(seen.pods, has_name);
  else
    std::erase_if(seen.objects,
                  [&](const ObjectView& view) { return view.kind == object.kind && has_name(view); });
}

}  // namespace

namespace {

/// The job as it was read again. If the cache refused this spec for lack of memory for it, the job stays
/// refused: the spec alone doesn't show that.
GnnJob reread_job(const GnnJob& before, const std::string& text) {
  GnnJob now = read_gnn_job(text);
  const bool is_same_spec = now.meta.uid == before.meta.uid && now.meta.generation == before.meta.generation;
  const bool is_sound = now.refusal.empty() && !has_ended(now.status.conditions);
  if (is_same_spec && is_sound && !before.refusal.empty()) refuse(now, before.refusal);
  return now;
}

}  // namespace

std::set<std::string> pods_that_exist(const std::vector<Reread>& reread) {
  std::set<std::string> names;
  for (const Reread& each : reread)
    if (each.object.kind == Kind::kPod && each.text) names.insert(each.object.name);
  return names;
}

std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated) {
  std::vector<Reread> all;
  for (const Outdated& object : outdated) {
    try {
      kube::Answer answer = client.get(resource_of(object.kind).path(space, object.name));
      if (!answer && !answer.error->is_not_found()) return {};
      all.push_back({object, answer ? std::optional(std::move(answer.object)) : std::nullopt});
    } catch (const kube::TransportError&) {
      return {};
    }
  }
  return all;
}

bool put_in(Observed& seen, const Reread& reread) {
  const auto& [object, text] = reread;
  if (object.kind == Kind::kJob) {
    if (text) seen.job = reread_job(seen.job, *text);
    return text.has_value();
  }
  take_out(seen, object);
  if (text && object.kind == Kind::kPod) seen.pods.push_back(adopted(read_pod(*text)));
  if (text && object.kind != Kind::kPod)
    seen.objects.push_back(read_object(object.kind, json_or_discarded(*text)));
  return true;
}

}  // namespace atl::ctl
