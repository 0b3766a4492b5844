#include "operator/run/room_table.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/caches.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

/// The node that the job's status plans for a gated worker, or "". The operator that wrote the plan may have
/// died before it pinned the pod.
std::string planned_node(const GnnJob& job, const PodView& pod) {
  if (!is_gated(pod) || pod.meta.label(kRoleLabel) != kWorkerRole || !holds(job.status.conditions, kPlaced))
    return {};
  const std::string label = pod.meta.label(kServerLabel);
  std::size_t server = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), server);
  if (error != std::errc() || end != label.data() + label.size() || server >= job.status.servers.size())
    return {};
  return job.status.servers[server].node;
}

template <class Map>
void take_out(Map& names_by_key, const std::string& key, const std::string& name) {
  const auto found = names_by_key.find(key);
  if (found == names_by_key.end()) return;
  found->second.erase(name);
  if (found->second.empty()) names_by_key.erase(found);
}

}  // namespace

void RoomTable::touch(const std::string& node) {
  touched_.insert(node);
  ++generation_;
}

void RoomTable::node_changed(const std::string& name) {
  std::unique_lock lock(mutex_);
  auto entry = caches_.node(name);
  const bool is_there = entry != nullptr;
  Node& node = nodes_[name];
  if ((node.entry != nullptr) != is_there) is_in_line_ = false;
  node.entry = std::move(entry);
  touch(name);
  ++capacity_generation_;
  if (!is_there && node.holdings.empty()) nodes_.erase(name);
  lock.unlock();
  if (is_there) on_room_();
}

void RoomTable::others_changed(const std::string& node, bool gives_room) {
  std::unique_lock lock(mutex_);
  touch(node);
  lock.unlock();
  if (gives_room) on_room_();
}

void RoomTable::pod_changed(const std::string& pod) {
  std::unique_lock lock(mutex_);
  const bool gives_room = look_at(pod);
  lock.unlock();
  if (gives_room) on_room_();
}

void RoomTable::pod_gone(const std::string& pod) {
  std::unique_lock lock(mutex_);
  if (const auto booked = booked_.find(pod); booked != booked_.end()) {
    take_out(booked_by_, booked->second.job, pod);
    booked_.erase(booked);
  }
  const bool gives_room = look_at(pod);
  lock.unlock();
  if (gives_room) on_room_();
}

void RoomTable::job_changed(const std::string& job) {
  std::unique_lock lock(mutex_);
  std::set<std::string> pods;
  for (std::string& pod : caches_.labelled_pods(job)) pods.insert(std::move(pod));
  if (const auto found = by_job_.find(job); found != by_job_.end())
    pods.insert(found->second.begin(), found->second.end());
  bool gives_room = false;
  for (const std::string& pod : pods) gives_room |= look_at(pod);
  lock.unlock();
  if (gives_room) on_room_();
}

bool RoomTable::book(const std::string& job, std::map<std::string, Booking>&& pods) {
  std::lock_guard lock(mutex_);
  bool are_as_shown = true;
  for (auto& [name, booking] : pods) {
    are_as_shown &= is_as_shown(booking.node);
    const std::string pod = full_name(space_of(job), name);
    booked_by_[job].insert(pod);
    booked_.insert_or_assign(pod, Booked{job, std::move(booking)});
    look_at(pod);
  }
  return are_as_shown;
}

void RoomTable::cancel(const std::string& job, const std::set<std::string>& but) {
  std::unique_lock lock(mutex_);
  const auto found = booked_by_.find(job);
  if (found == booked_by_.end()) return;
  std::set<std::string> kept, ended;
  for (const std::string& name : but) kept.insert(full_name(space_of(job), name));
  std::ranges::set_difference(found->second, kept, std::inserter(ended, ended.end()));
  bool gives_room = false;
  for (const std::string& pod : ended) {
    booked_.erase(pod);
    take_out(booked_by_, job, pod);
    gives_room |= look_at(pod);
  }
  lock.unlock();
  if (gives_room) on_room_();
}

void RoomTable::cancel_all() {
  std::unique_lock lock(mutex_);
  booked_by_.clear();
  const auto ended = std::exchange(booked_, {});
  bool gives_room = false;
  for (const auto& [pod, booked] : ended) gives_room |= look_at(pod);
  lock.unlock();
  if (gives_room) on_room_();
}

std::set<std::string> RoomTable::jobs_on(const std::string& node) const {
  std::lock_guard lock(mutex_);
  std::set<std::string> jobs;
  if (const auto found = nodes_.find(node); found != nodes_.end())
    for (const Holding* holding : found->second.holdings) jobs.insert(holding->job);
  jobs.erase("");
  return jobs;
}

bool RoomTable::holds_nothing(const std::string& job) const {
  std::lock_guard lock(mutex_);
  return !by_job_.contains(job);
}

std::size_t RoomTable::bookings() const {
  std::lock_guard lock(mutex_);
  return booked_.size();
}

std::size_t RoomTable::jobs() const {
  std::lock_guard lock(mutex_);
  return by_job_.size();
}

std::optional<RoomTable::Holding> RoomTable::holding_of(const std::string& pod) const {
  const auto found = booked_.find(pod);
  const Booked* booked = found == booked_.end() ? nullptr : &found->second;
  const auto view = caches_.pod(pod);
  if (!view) {
    if (!booked) return {};
    return Holding{booked->booking.node, booked->job, booked->booking.requests};
  }
  if (view->has_ended() || view->gives_way || view->meta.label(kJobLabel).empty())
    return {};  // a pod without the name of a job is a pod of others
  Holding holding{view->node, caches_.owner_of(*view), view->requests};
  // Anybody may put our annotation on a pod, so a pin counts only for a job's own pods.
  if (holding.node.empty() && !holding.job.empty()) {
    holding.node = view->pinned;
    if (holding.node.empty() && booked && booked->job == holding.job) holding.node = booked->booking.node;
    const auto job = holding.node.empty() ? caches_.job(holding.job) : nullptr;
    if (job) holding.node = planned_node(*job, *view);
  }
  return holding.node.empty() ? std::nullopt : std::optional(std::move(holding));
}

bool RoomTable::look_at(const std::string& pod) {
  auto now = holding_of(pod);
  const auto before = holdings_.find(pod);
  const bool was_there = before != holdings_.end();
  if (was_there ? now && before->second == *now : !now) return false;
  if (was_there) {
    take_off(pod, before->second);
    holdings_.erase(before);
  }
  if (!now) return true;
  const auto place = holdings_.emplace(pod, std::move(*now)).first;
  const Holding& holding = place->second;
  nodes_[holding.node].holdings.insert(&holding);
  if (!holding.job.empty()) by_job_[holding.job].insert(pod);
  touch(holding.node);
  return was_there;
}

void RoomTable::take_off(const std::string& pod, const Holding& holding) {
  const auto node = nodes_.find(holding.node);
  node->second.holdings.erase(&holding);
  touch(holding.node);
  if (!node->second.entry && node->second.holdings.empty()) nodes_.erase(node);
  take_out(by_job_, holding.job, pod);
}

void RoomTable::line_up() {
  if (std::exchange(is_in_line_, true)) return;
  Snapshot lined;
  Changes changes{{}, std::vector<int>()};
  std::vector<std::shared_ptr<const NodeEntry>> shown;
  std::size_t before = 0;  // both lists are sorted by name
  for (const auto& [name, node] : nodes_) {
    if (!node.entry) continue;
    while (before < snapshot_.nodes.size() && snapshot_.nodes[before].name < name) ++before;
    const bool is_known = before < snapshot_.nodes.size() && snapshot_.nodes[before].name == name;
    lined.nodes.push_back(is_known ? std::move(snapshot_.nodes[before]) : NodeState{.name = name});
    lined.left.push_back(is_known ? std::move(snapshot_.left[before]) : NodeLeft{});
    shown.push_back(is_known ? std::move(shown_[before]) : nullptr);
    if (is_known && changes_.nodes.contains(before)) changes.nodes.insert(changes.from->size());
    changes.from->push_back(!is_known ? -1 : changes_.from ? (*changes_.from)[before] : int(before));
    if (is_known) ++before;
  }
  snapshot_ = std::move(lined);
  changes_ = std::move(changes);
  shown_ = std::move(shown);
}

std::optional<std::size_t> RoomTable::place_of(const std::string& node) const {
  const auto at = std::ranges::lower_bound(snapshot_.nodes, node, {}, &NodeState::name);
  if (at == snapshot_.nodes.end() || at->name != node) return {};
  return std::size_t(at - snapshot_.nodes.begin());
}

bool RoomTable::is_as_shown(const std::string& node) const {
  const auto place = place_of(node);
  const auto now = nodes_.find(node);
  return place && now != nodes_.end() && now->second.entry == shown_[*place];
}

const Snapshot& RoomTable::snapshot(const std::string& job, const std::vector<PodState>& pods) {
  std::lock_guard lock(mutex_);
  touched_.merge(std::exchange(set_aside_, {}));
  if (const auto own = by_job_.find(job); own != by_job_.end() && !job.empty())
    for (const std::string& pod : own->second) set_aside_.insert(holdings_.at(pod).node);
  touched_.insert(set_aside_.begin(), set_aside_.end());
  line_up();
  for (const std::string& name : touched_) {
    const auto place = place_of(name);
    if (!place) continue;  // the node is gone
    const std::size_t n = *place;
    const Node& node = nodes_.at(name);
    if (shown_[n] != node.entry) snapshot_.nodes[n] = node.entry->state;
    shown_[n] = node.entry;
    snapshot_.left[n] = left_of(name, node, job);
    changes_.nodes.insert(n);
  }
  touched_.clear();
  snapshot_.pods = pods;
  return snapshot_;
}

/// What the node has left after all pods except those of the job `but`.
NodeLeft RoomTable::left_of(const std::string& name, const Node& node, const std::string& but) const {
  const Resources& all = node.entry->state.allocatable;
  NodeLeft left{all, all, all};
  const NodeTaken taken = caches_.others().taken(name);
  for (Resources* beside : {&left.free, &left.cleared}) {
    *beside -= taken.others;
    *beside -= taken.daemons;
  }
  left.empty -= taken.daemons;
  for (const Holding* holding : node.holdings) {
    if (!but.empty() && holding->job == but) continue;
    left.free -= holding->requests;
    if (holding->job.empty()) left.cleared -= holding->requests;
  }
  return left;
}

}  // namespace atl::ctl
