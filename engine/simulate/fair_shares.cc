#include "simulate/fair_shares.h"

#include <algorithm>
#include <functional>

namespace atl {

int FairShares::add_resource(double capacity) {
  resources_.push_back({.capacity = capacity, .users = {}});
  return int(resources_.size()) - 1;
}

void FairShares::mark(int resource) {
  if (!std::exchange(resources_[std::size_t(resource)].is_changed, true)) changed_.push_back(resource);
}

void FairShares::set(int resource, double capacity) {
  if (std::exchange(resources_[std::size_t(resource)].capacity, capacity) != capacity) mark(resource);
}

int FairShares::add(const Uses& uses) {
  int number = int(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[std::size_t(number)];
  flow = {.uses = uses};
  for (std::size_t u = 0; u < uses.all().size(); ++u) {
    auto& users = resources_[std::size_t(uses.all()[u].resource)].users;
    flow.places[u] = users.size();
    users.push_back({number, u});
    mark(uses.all()[u].resource);
  }
  return number;
}

void FairShares::remove(int number) {
  Flow& flow = flows_[std::size_t(number)];
  for (std::size_t u = 0; u < flow.uses.all().size(); ++u) {
    const int resource = flow.uses.all()[u].resource;
    auto& users = resources_[std::size_t(resource)].users;
    const User last = users.back();
    users[flow.places[u]] = last;
    flows_[std::size_t(last.flow)].places[last.use] = flow.places[u];
    users.pop_back();
    mark(resource);
  }
  flow.rate = 0;
  free_.push_back(number);
}

/// Collects the changed resources, and all flows and resources that share anything with them, directly or by
/// way of others.
void FairShares::collect() {
  ++round_;
  reached_.clear(), grown_.clear();
  const auto reach = [this](int resource) {
    if (std::exchange(resources_[std::size_t(resource)].round, round_) != round_)
      reached_.push_back(resource);
  };
  for (const int resource : changed_) {
    resources_[std::size_t(resource)].is_changed = false;
    reach(resource);
  }
  changed_.clear();
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    Resource& resource = resources_[std::size_t(reached_[i])];
    resource.left = resource.capacity, resource.per_pace = 0;
    resource.growing = int(resource.users.size());
    for (const User& user : resource.users) {
      Flow& flow = flows_[std::size_t(user.flow)];
      resource.per_pace += flow.uses.all()[user.use].per_unit;
      if (std::exchange(flow.round, round_) == round_) continue;
      flow.grows = true;
      grown_.push_back(user.flow);
      for (const Use& use : flow.uses.all()) reach(use.resource);
    }
  }
}

double FairShares::pace_of(const Resource& resource) const {
  return std::max(0.0, resource.left) / resource.per_pace;
}

/// Stops the flows that use the resource and still grow, at the rate `pace`.
void FairShares::stop(int number, double pace) {
  for (const User& user : resources_[std::size_t(number)].users) {
    Flow& flow = flows_[std::size_t(user.flow)];
    if (!std::exchange(flow.grows, false)) continue;
    if (std::exchange(flow.rate, pace) != pace) moved_.push_back(user.flow);
    flow.bottleneck = number;
    for (const Use& use : flow.uses.all()) {
      Resource& resource = resources_[std::size_t(use.resource)];
      resource.left -= pace * use.per_unit, resource.per_pace -= use.per_unit;
      --resource.growing;
    }
  }
}

/// All flows grow at one pace. The resource that is used up first stops the flows that use it, and the other
/// flows grow on. A flow that stops leaves more to others. So a resource is never used up sooner than
/// expected, and its pace is computed again when its turn comes.
std::span<const int> FairShares::settle() {
  moved_.clear();
  if (changed_.empty()) return moved_;
  collect();
  next_.clear();
  for (const int number : reached_)
    if (const Resource& resource = resources_[std::size_t(number)]; resource.growing > 0)
      next_.emplace_back(pace_of(resource), number);
  std::ranges::make_heap(next_, std::greater());
  double pace = 0;
  while (!next_.empty()) {
    std::ranges::pop_heap(next_, std::greater());
    auto& [thought, number] = next_.back();
    const Resource& resource = resources_[std::size_t(number)];
    if (resource.growing > 0) {
      if (const double now = pace_of(resource); now > thought * (1 + 1e-12)) {
        thought = now;
        std::ranges::push_heap(next_, std::greater());
        continue;
      }
      pace = std::max(pace, thought);
      stop(number, pace);
    }
    next_.pop_back();
  }
  return moved_;
}

}  // namespace atl
