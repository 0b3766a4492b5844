// Max-min fair shares: how fast each of several flows is where they share what none can have for itself.
// Every flow is as fast as the others until something that it uses is used up. Flows come and go; only those
// that share something with them, by way of others too, are worked out anew.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace atl {

/// Of one resource, what a flow takes for each unit that it moves.
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
  /// Units a second. Returns its number.
  int add_resource(double capacity);
  void set(int resource, double capacity);
  double capacity(int resource) const { return resources_[std::size_t(resource)].capacity; }
  /// Flows that use it.
  std::size_t flows_of(int resource) const { return resources_[std::size_t(resource)].users.size(); }

  /// A flow that uses something. Returns its number; it doesn't move before settle().
  int add(const Uses& uses);
  void remove(int flow);
  std::size_t flows() const { return flows_.size() - free_.size(); }
  double rate(int flow) const { return flows_[std::size_t(flow)].rate; }
  /// What keeps it from being faster.
  int bottleneck(int flow) const { return flows_[std::size_t(flow)].bottleneck; }

  bool is_settled() const { return changed_.empty(); }
  /// Works out rates where anything has changed. Returns flows that have become faster or slower, until the
  /// next call.
  std::span<const int> settle();

 private:
  struct User {
    int flow;
    std::size_t use;  // which of the flow's
  };
  struct Resource {
    double capacity = 0;
    std::vector<User> users;
    bool is_changed = false;
    int round = 0;  // of settle(), which it last took part in
    // Meanwhile:
    double left = 0;      // of the capacity
    double per_pace = 0;  // what all growing flows take of it, for each unit that each of them moves
    int growing = 0;      // flows that grow and use it
  };
  struct Flow {
    Uses uses;
    std::array<std::size_t, Uses::kMost> places{};  // among the users of each of its resources
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
  std::vector<int> free_;     // numbers of flows that have gone
  std::vector<int> changed_;  // resources whose capacity or flows have, since settle()
  int round_ = 0;
  // settle()'s, kept for their memory:
  std::vector<int> reached_, grown_, moved_;  // resources, flows, flows
  std::vector<std::pair<double, int>> next_;  // a heap: no resource is used up at a lower pace than this
};

}  // namespace atl
