// Max-min fair shares: the rates of flows that share limited resources. Every flow is as fast as the others
// until something that it uses is used up. When flows come and go, only the flows are computed again that
// share a resource with them, directly or by way of others.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace atl {

/// What a flow takes of one resource for each unit that it moves.
struct Use {
  int resource = 0;
  double per_unit = 1;
};

/// What a flow uses: each resource at most once.
class Uses {
 public:
  static constexpr std::size_t kMost = 6;  // both ends' links, racks and processors
  void add(Use use) { uses_[count_++] = use; }
  std::span<const Use> all() const { return {uses_.data(), count_}; }

 private:
  std::array<Use, kMost> uses_{};
  std::size_t count_ = 0;
};

class FairShares {
 public:
  /// `capacity`: units per second. Returns the resource's number.
  int add_resource(double capacity);
  void set(int resource, double capacity);
  double capacity(int resource) const { return resources_[std::size_t(resource)].capacity; }
  /// How many flows use the resource.
  std::size_t flows_of(int resource) const { return resources_[std::size_t(resource)].users.size(); }

  /// Adds a flow that uses at least one resource. Returns its number. The flow doesn't move before settle().
  int add(const Uses& uses);
  void remove(int flow);
  std::size_t flows() const { return flows_.size() - free_.size(); }
  double rate(int flow) const { return flows_[std::size_t(flow)].rate; }
  /// The resource that limits the flow's rate.
  int bottleneck(int flow) const { return flows_[std::size_t(flow)].bottleneck; }

  bool is_settled() const { return changed_.empty(); }
  /// Computes rates again where anything has changed. Returns the flows whose rate changed; valid until the
  /// next call.
  std::span<const int> settle();

 private:
  struct User {
    int flow;
    std::size_t use;  // index among the flow's uses
  };
  struct Resource {
    double capacity = 0;
    std::vector<User> users;
    bool is_changed = false;
    int round = 0;  // the last round of settle() that the resource took part in
    // During settle():
    double left = 0;      // the capacity that is left
    double per_pace = 0;  // units that all growing flows together take when each moves one unit
    int growing = 0;      // growing flows that use the resource
  };
  struct Flow {
    Uses uses;
    std::array<std::size_t, Uses::kMost> places{};  // its place among each resource's users
    double rate = 0;
    int bottleneck = 0;
    int round = 0;
    bool grows = false;
  };

  void mark(int resource);
  void collect();
  double pace_of(const Resource& resource) const;
  void stop(int resource, double pace);

  std::vector<Resource> resources_;
  std::vector<Flow> flows_;
  std::vector<int> free_;     // numbers of flows that are gone
  std::vector<int> changed_;  // resources whose capacity or flows changed since settle()
  int round_ = 0;
  // settle()'s buffers:
  std::vector<int> reached_, grown_, moved_;  // resources, flows, flows
  std::vector<std::pair<double, int>> next_;  // a heap of lower bounds of resources' paces
};

}  // namespace atl
