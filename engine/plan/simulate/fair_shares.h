// Max-min fair shares: how fast each of several flows is where they share what none can have for itself. Every flow is as fast as the
// others until something that it uses is used up.
#pragma once

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

class FairShares {
 public:
  /// Units a second of each resource.
  explicit FairShares(std::vector<double> capacities) : capacities_(std::move(capacities)) {}
  void set(int resource, double capacity) { capacities_[std::size_t(resource)] = capacity; }
  double capacity(int resource) const { return capacities_[std::size_t(resource)]; }

  /// `flows`: what each uses; a resource at most once. `rates` (flows): units a second; infinite where a flow uses nothing.
  void share(std::span<const std::span<const Use>> flows, std::vector<double>& rates);

 private:
  std::vector<double> capacities_;
  struct Load {
    double left = 0;      // of the capacity
    double per_pace = 0;  // what all growing flows take of it, for each unit that each of them moves
    int flows = 0;        // that grow and use it
  };
  // Kept from call to call, for their memory:
  std::vector<Load> loads_;           // by resource
  std::vector<int> used_;             // resources
  std::vector<std::size_t> growing_;  // flows
};

}  // namespace atl
