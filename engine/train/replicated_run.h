// A run of neighbouring parameters that the same ranks hold alike: what one sum over those ranks makes whole.
#pragma once

#include <span>
#include <vector>

#include "comm/device_sums.h"
#include "model/parameters.h"
#include "tensor/context.h"

namespace atl {

class ReplicatedRun {
 public:
  /// `values` of this rank, memory of ctx's device, are to be summed with those of `replicas` (as in Placement) and outlive
  /// it. Allocates all that a sum needs. Not `deterministic`: linked devices may sum over all ranks themselves, in any order.
  ReplicatedRun(Context& ctx, const Communicator& comm, const std::vector<Rank>& replicas,
                std::span<Real> values, bool deterministic);

  /// Begins to sum in place, in rank order unless devices do, so that all replicas get the same bits. Collective over the replicas.
  void begin_sum(Context& ctx, Communicator& comm);
  /// Returns when the sum that was begun is whole.
  void finish_sum(Context& ctx);
  bool begun() const { return begun_; }
  Index bytes() const { return sum_.bytes(); }

  std::span<Real> values() const { return values_; }
  bool everywhere() const { return replicas_->everyone(); }
  /// Where only some ranks hold it: whether this one, the first of them, is the one that counts it.
  bool counted_here() const { return replicas_->place() == 0; }

 private:
  std::unique_ptr<RankGroup> replicas_;  // where it stays, for the sums that are under way
  std::span<Real> values_;
  bool on_devices_;  // they sum
  DeviceSum sum_;    // otherwise
  bool begun_ = false;
  Event arrival_;  // of a sum on devices
};

}  // namespace atl
