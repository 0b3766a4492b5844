// Sums over ranks of values that lie in a device's memory, in rank order: the host adds them up.
#pragma once

#include "comm/communicator.h"
#include "tensor/buffer.h"
#include "tensor/context.h"

namespace atl {

/// Room for one sum after the other, of one rank: one begins after the stream was given the end of the one
/// before. Where the host can't read the device's memory, values travel by way of it.
class DeviceSum {
 public:
  explicit DeviceSum(Device device);

  /// Room for a sum of so many values of `width` bytes over the group. True where it had to grow.
  bool reserve(Context& ctx, const RankGroup& group, Index count, Index width);
  /// Begins to sum `values` in place, of floats or doubles in the memory of ctx's device. Collective over the
  /// group, which stays.
  template <class T>
  void begin(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group, std::span<T> values);
  /// What the stream is given afterwards finds the sums there.
  void end(Context& ctx);
  /// Both.
  template <class T>
  void sum(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group, std::span<T> values) {
    begin(ctx, comm, purpose, group, values);
    end(ctx);
  }
  Index bytes() const { return terms_.held_bytes() + Index(staged_.bytes()); }

 private:
  Buffer<std::byte> terms_;      // others', of the host's memory
  PinnedBuffer staged_;          // ours
  std::span<std::byte> values_;  // where they belong, of what is staged
  Event arrival_;
};

}  // namespace atl
