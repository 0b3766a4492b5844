#include "operator/run/caches.h"

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/controller/observed.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/json_members.h"
#include "operator/run/feedback.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// The kinds of jobs' objects that are cached, besides pods. Secrets aren't among them, because the right to
/// list jobs' Secrets would be the right to list all Secrets.
std::vector<Kind> object_kinds(const Scope& scope) {
  std::vector<Kind> kinds = {Kind::kConfigMap, Kind::kNetworkPolicy};
  if (scope.mpi_jobs) kinds.push_back(Kind::kMpiJob);
  if (scope.workloads) kinds.push_back(Kind::kWorkload);
  if (scope.capacity_buffers) kinds.insert(kinds.end(), {Kind::kPodTemplate, Kind::kCapacityBuffer});
  return kinds;
}

NodeEntry read_node(std::string_view text) {
  const json node = json_or_discarded(text);
  NodeEntry entry{node_state(node), {}};
  for (const json& condition : list_of(member(node, "status"), "conditions"))
    if (text_of(condition, "type") == "Ready")
      entry.since = moment_of(condition, "lastTransitionTime").value_or(Moment{});
  return entry;
}

std::string job_of(const Meta& meta) {
  const std::string job = meta.label(kJobLabel);
  return job.empty() ? "" : full_name(meta.space, job);
}

/// Whether somebody has changed the label that names the object's job.
template <class Value>
bool is_relabelled(const Value& before, const Value& after) {
  return before && after && job_of(before->meta) != job_of(after->meta);
}

template <class Value>
void enter(NameIndex& index, const std::string& name, const Value& before, const Value& after) {
  const bool leaves = !after || is_relabelled(before, after);
  if (before && leaves && !job_of(before->meta).empty()) index.remove(job_of(before->meta), name);
  if (after && !job_of(after->meta).empty()) index.add(job_of(after->meta), name);
}

/// Tells the listener that a pod or an object came, changed or went. If it moved to another job's label, its
/// former job is told both that it changed and that it is gone.
template <class Value>
void tell(CacheListener& listener, Kind kind, const Value& before, const Value& after) {
  const Meta& meta = after ? after->meta : before->meta;
  const std::string job = job_of(meta);
  if (is_relabelled(before, after) && !job_of(before->meta).empty()) {
    listener.job_changed(job_of(before->meta), changed_mark(kind, meta.name));
    listener.job_changed(job_of(before->meta), gone_mark(meta.uid));
  }
  if (job.empty()) return;
  if (!after) return listener.job_changed(job, gone_mark(meta.uid));
  if (!before) return listener.job_changed(job, made_mark(kind, meta.name));
  // A pod that we deleted counts as gone as soon as the caches show it terminating.
  const bool goes = meta.deletion && !before->meta.deletion;
  listener.job_changed(job, goes ? gone_mark(meta.uid) : changed_mark(kind, meta.name));
}

/// A job is as urgent as its pods. A job without pods has priority 0.
int priority_of(const std::shared_ptr<const PodView>& pod) {
  return pod && !pod->gives_way ? pod->priority : 0;
}

kube::Cache<PodView> pod_cache(const News& news, SpaceCaches& space) {
  return {[](std::string_view text) { return adopted(read_pod(std::string(text))); },
          [news, &space](const std::string& name, const auto& before, const auto& after) {
            if (before && before->is_bound() && !after) space.pods_by_node.remove(before->node, name);
            if (after && after->is_bound()) space.pods_by_node.add(after->node, name);
            enter(space.pods_by_job, name, before, after);
            if (after)
              news.room.pod_changed(name);
            else
              news.room.pod_gone(name);
            if (priority_of(before) != priority_of(after) || is_relabelled(before, after)) ++news.order;
            tell(news.listener, Kind::kPod, before, after);
          }};
}

}  // namespace

void NameIndex::add(const std::string& key, const std::string& name) {
  std::lock_guard lock(mutex_);
  names_[key].insert(name);
}

void NameIndex::remove(const std::string& key, const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto found = names_.find(key);
  if (found == names_.end()) return;
  found->second.erase(name);
  if (found->second.empty()) names_.erase(found);
}

std::vector<std::string> NameIndex::names(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto found = names_.find(key);
  if (found == names_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

SpaceCaches::SpaceCaches(const News& news, const std::vector<Kind>& kinds, const std::string& operator_class)
    : jobs(job_cache(news, operator_class)), pods(pod_cache(news, *this)) {
  for (const Kind kind : kinds) {
    NameIndex& index = objects_by_job[kind];
    objects[kind] = std::make_unique<kube::Cache<ObjectView>>(
        [kind](std::string_view text) { return read_object(kind, json_or_discarded(text)); },
        [kind, news, &index](const std::string& name, const auto& before, const auto& after) {
          enter(index, name, before, after);
          tell(news.listener, kind, before, after);
        });
  }
}

Caches::Caches(Scope scope, CacheListener& listener)
    : operator_class_(scope.operator_class),
      listener_(listener),
      room_(*this, [&listener] { listener.room_changed(); }),
      nodes_(read_node, [this](const std::string& name, const auto& before,
                               const auto& after) { node_changed(name, before, after); }),
      others_({[this](const std::string& space) { return find(space) != nullptr; },
               [this](const std::string& node, bool gives_room) { room_.others_changed(node, gives_room); }}),
      queues_(scope.workloads ? std::make_unique<QueueCaches>() : nullptr) {
  if (scope.spaces.empty()) scope.spaces.emplace_back();
  for (const std::string& space : scope.spaces)
    spaces_[space] =
        std::make_unique<SpaceCaches>(News{room_, order_, listener}, object_kinds(scope), operator_class_);
}

std::vector<Feed> Caches::feeds() {
  const std::string ours = std::string(kManagedByLabel) + "=" + kManager + "," + kJobLabel;
  std::vector<Feed> all;
  for (const auto& [space, caches] : spaces_) {
    all.push_back({resource_of(Kind::kJob).path(space), {}, &caches->jobs});
    all.push_back({resource_of(Kind::kPod).path(space), {kJobLabel, ""}, &caches->pods});
    for (const auto& [kind, objects] : caches->objects)
      all.push_back({resource_of(kind).path(space),
                     {ours, ""},
                     objects.get(),
                     kind == Kind::kWorkload || kind == Kind::kCapacityBuffer});
  }
  if (queues_) queues_->add_feeds(all);
  all.push_back({nodes_resource().path(), {}, &nodes_});
  all.push_back({resource_of(Kind::kPod).path(),
                 {"", "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"},
                 &others_});
  return all;
}

std::size_t Caches::size() const {
  std::size_t all = nodes_.size() + others_.size();
  for (const auto& [name, space] : spaces_) {
    all += space->jobs.size() + space->pods.size();
    for (const auto& [kind, objects] : space->objects) all += objects->size();
  }
  return all;
}

const SpaceCaches* Caches::find(const std::string& space) const {
  const auto all = spaces_.find("");
  const auto found = all == spaces_.end() ? spaces_.find(space) : all;
  return found == spaces_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const GnnJob> Caches::job(const std::string& name) const {
  const SpaceCaches* space = find(space_of(name));
  auto found = space ? space->jobs.find(name) : nullptr;
  return found && found->operator_class() == operator_class_ ? found : nullptr;
}

std::vector<std::shared_ptr<const GnnJob>> Caches::jobs() const {
  std::vector<std::shared_ptr<const GnnJob>> all;
  for (const auto& [name, space] : spaces_)
    for (auto& job : space->jobs.all())
      if (job->operator_class() == operator_class_) all.push_back(std::move(job));
  return all;
}

std::shared_ptr<const PodView> Caches::pod(const std::string& name) const {
  const SpaceCaches* space = find(space_of(name));
  return space ? space->pods.find(name) : nullptr;
}

std::vector<std::string> Caches::labelled_pods(const std::string& job) const {
  const SpaceCaches* space = find(space_of(job));
  return space ? space->pods_by_job.names(job) : std::vector<std::string>();
}

std::vector<std::shared_ptr<const PodView>> Caches::pods_of(const std::string& job) const {
  std::vector<std::shared_ptr<const PodView>> all;
  const SpaceCaches* space = find(space_of(job));
  const auto owner = this->job(job);
  if (!owner) return all;
  for (const std::string& name : space->pods_by_job.names(job))
    if (auto pod = space->pods.find(name); pod && pod->meta.owner_uid == owner->meta.uid)
      all.push_back(std::move(pod));
  return all;
}

std::vector<std::shared_ptr<const PodView>> Caches::pods_on(const std::string& node) const {
  std::vector<std::shared_ptr<const PodView>> all;
  for (const auto& [key, space] : spaces_)
    for (const std::string& name : space->pods_by_node.names(node))
      if (auto pod = space->pods.find(name)) all.push_back(std::move(pod));
  return all;
}

std::string Caches::owner_of(const PodView& pod) const {
  const std::string name = job_of(pod.meta);
  const auto owner = name.empty() ? nullptr : job(name);
  return owner && owner->meta.uid == pod.meta.owner_uid ? name : "";
}

std::vector<std::shared_ptr<const ObjectView>> Caches::objects_of(const std::string& job) const {
  std::vector<std::shared_ptr<const ObjectView>> all;
  const SpaceCaches* space = find(space_of(job));
  const auto owner = this->job(job);
  if (!owner) return all;
  for (const auto& [kind, index] : space->objects_by_job)
    for (const std::string& name : index.names(job))
      if (auto object = space->objects.at(kind)->find(name);
          object && object->meta.owner_uid == owner->meta.uid)
        all.push_back(std::move(object));
  return all;
}

std::shared_ptr<const Meta> Caches::meta_of(Kind kind, const std::string& name) const {
  const auto meta = [](const auto& value) {
    return value ? std::shared_ptr<const Meta>(value, &value->meta) : nullptr;
  };
  const SpaceCaches* space = find(space_of(name));
  if (!space) return nullptr;
  if (kind == Kind::kJob) return meta(space->jobs.find(name));
  if (kind == Kind::kPod) return meta(pod(name));
  const auto objects = space->objects.find(kind);
  return objects == space->objects.end() ? nullptr : meta(objects->second->find(name));
}

Moment Caches::missed_since(const std::string& node, Moment now) const {
  constexpr Seconds kRemembered{3600};
  std::lock_guard lock(missed_mutex_);
  std::erase_if(missed_, [&](const auto& missed) { return now - missed.second > kRemembered; });
  return missed_.try_emplace(node, now).first->second;
}

void Caches::node_changed(const std::string& name, const kube::Cache<NodeEntry>::Value& before,
                          const kube::Cache<NodeEntry>::Value& after) {
  if (after) {
    std::lock_guard lock(missed_mutex_);
    missed_.erase(name);
  }
  if (before && after && before->state == after->state) return;
  room_.node_changed(name);
  std::set<std::string> concerned = room_.jobs_on(name);  // includes jobs whose decisions aren't written yet
  for (const auto& pod : pods_on(name)) concerned.insert(job_of(pod->meta));
  for (const std::string& job : concerned)
    if (!job.empty()) listener_.job_changed(job, "");
}

}  // namespace atl::ctl
