#include "operator/run/thin_pods.h"

#include <algorithm>

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/kube/json_cut.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr const char *kCores = "cpu", *kMemory = "memory";

/// Whether no amount of `a` exceeds that of `b`.
bool is_within(const Resources& a, const Resources& b) {
  return std::ranges::all_of(a.amounts(), [&](const auto& one) { return one.second <= b.of(one.first); });
}

}  // namespace

void ThinPods::put(std::string_view object) {
  const json pod = json_or_discarded(object);
  const PodState state = pod_state(pod);
  const bool is_kept_elsewhere =
      !state.job.empty() && handlers_.is_watched(state.job.substr(0, state.job.find('/')));
  if (state.node.empty() || state.finished || state.gives_way || is_kept_elsewhere) return remove(object);
  const auto priority = integer_of(member(pod, "spec"), "priority").value_or(0);
  std::string left;  // the node on which the pod now takes less
  {
    std::lock_guard lock(mutex_);
    const Thin now = thin_of(state, std::int32_t(priority));
    if (auto before = pods_.extract(state.name)) {
      if (before.mapped().takes_the_same(now)) {
        leave_rest(now.rest);  // the pod is counted there already
        before.mapped() = now;
        pods_.insert(std::move(before));  // keeps the key at its address, to which nodes point
        return;
      }
      const std::string node = take_off(state.name, before.mapped());
      if (before.mapped().node != now.node) leave_if_empty(before.mapped().node);
      if (node != state.node || !is_within(requests(before.mapped()), state.requests)) left = node;
      leave_rest(before.mapped().rest);
    }
    const auto place = pods_.emplace(state.name, now).first;
    sum(now) += state.requests;
    nodes_[std::size_t(now.node)].pods.insert(place->first);
  }
  if (!left.empty() && left != state.node) handlers_.on_change(left, true);
  handlers_.on_change(state.node, left == state.node);
}

void ThinPods::remove(std::string_view object) {
  erase(kube::object_key(object).name);
}

void ThinPods::erase(const std::string& name) {
  std::string node;
  {
    std::lock_guard lock(mutex_);
    const auto found = pods_.extract(name);
    if (!found) return;
    node = take_off(name, found.mapped());
    leave_if_empty(found.mapped().node);
    leave_rest(found.mapped().rest);
  }
  handlers_.on_change(node, true);
}

void ThinPods::begin_list() {
  std::lock_guard lock(mutex_);
  ++list_;
}

void ThinPods::end_list() {
  std::vector<std::string> vanished;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, pod] : pods_)
      if (pod.list != list_) vanished.push_back(name);
  }
  for (const std::string& name : vanished) erase(name);
}

NodeTaken ThinPods::taken(const std::string& node) const {
  std::lock_guard lock(mutex_);
  const auto place = node_places_.find(node);
  return place == node_places_.end() ? NodeTaken{} : nodes_[std::size_t(place->second)].taken;
}

std::vector<std::string> ThinPods::on(const std::string& node) const {
  std::lock_guard lock(mutex_);
  // sorted by priority, the highest first, then by name
  std::vector<std::pair<std::int32_t, std::string>> found;
  const auto place = node_places_.find(node);
  if (place == node_places_.end()) return {};
  for (const std::string_view name : nodes_[std::size_t(place->second)].pods)
    if (const Thin& pod = pods_.at(std::string(name)); !pod.of_daemon_set)
      found.emplace_back(-pod.priority, name);
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [priority, name] : found) names.push_back(std::move(name));
  return names;
}

std::size_t ThinPods::size() const {
  std::lock_guard lock(mutex_);
  return pods_.size();
}

std::size_t ThinPods::places() const {
  std::lock_guard lock(mutex_);
  return nodes_.size();
}

std::size_t ThinPods::kinds() const {
  std::lock_guard lock(mutex_);
  return rests_.size();
}

ThinPods::Thin ThinPods::thin_of(const PodState& state, std::int32_t priority) {
  Thin thin;
  Resources::Map rest = state.requests.amounts();
  thin.cores = state.requests.of(kCores);
  thin.memory = state.requests.of(kMemory);
  rest.erase(kCores);
  rest.erase(kMemory);
  thin.rest = rest_at(Resources(std::move(rest)));
  thin.node = node_at(state.node);
  thin.priority = priority;
  thin.list = list_;
  thin.of_daemon_set = state.of_daemon_set;
  return thin;
}

Resources ThinPods::requests(const Thin& pod) const {
  Resources all = rests_[std::size_t(pod.rest)].requests;
  all += Resources({{kCores, pod.cores}, {kMemory, pod.memory}});
  return all;
}

Resources& ThinPods::sum(const Thin& pod) {
  NodeTaken& taken = nodes_[std::size_t(pod.node)].taken;
  return pod.of_daemon_set ? taken.daemons : taken.others;
}

/// Subtracts a pod that is no longer in pods_, and returns its node. A sum that has reached its limit is
/// computed anew, because a difference would be wrong.
std::string ThinPods::take_off(const std::string& name, const Thin& pod) {
  NodeSum& node = nodes_[std::size_t(pod.node)];
  node.pods.erase(name);
  Resources& all = sum(pod);
  if (all.is_exact()) {
    all -= requests(pod);
    return node.name;
  }
  all = {};
  for (const std::string_view standing : node.pods)
    if (const Thin& other = pods_.at(std::string(standing)); other.of_daemon_set == pod.of_daemon_set)
      all += requests(other);
  return node.name;
}

std::int32_t ThinPods::node_at(const std::string& name) {
  const auto [found, is_new] = node_places_.try_emplace(name, std::int32_t(nodes_.size()));
  if (is_new && !free_places_.empty()) {
    found->second = free_places_.back();
    free_places_.pop_back();
    nodes_[std::size_t(found->second)].name = name;
  } else if (is_new) {
    nodes_.push_back({name});
  }
  return found->second;
}

/// Frees the place of a node that has no pods any more.
void ThinPods::leave_if_empty(std::int32_t place) {
  NodeSum& node = nodes_[std::size_t(place)];
  if (!node.pods.empty()) return;
  node_places_.erase(node.name);
  node = {};
  free_places_.push_back(place);
}

std::int32_t ThinPods::rest_at(const Resources& rest) {
  const auto [found, is_new] = rest_places_.try_emplace(rest.amounts(), std::int32_t(rests_.size()));
  if (is_new && !free_rests_.empty()) {
    found->second = free_rests_.back();
    free_rests_.pop_back();
    rests_[std::size_t(found->second)].requests = rest;
  } else if (is_new) {
    rests_.push_back({rest});
  }
  ++rests_[std::size_t(found->second)].pods;
  return found->second;
}

/// Uncounts a pod of these requests, and frees their place if it was the last one.
void ThinPods::leave_rest(std::int32_t place) {
  Rest& rest = rests_[std::size_t(place)];
  if (--rest.pods > 0) return;
  rest_places_.erase(rest.requests.amounts());
  rest = {};
  free_rests_.push_back(place);
}

}  // namespace atl::ctl
