// Sums over ranks of values in a device's memory, in rank order. The host adds them.
#pragma once

#include "comm/communicator.h"
#include "tensor/buffer.h"
#include "tensor/context.h"

namespace atl {

/// Memory for the sums of one rank, one at a time: the next begin() comes after end(). If the host can't read
/// the device's memory, values are copied through the host's.
class DeviceSum {
 public:
  explicit DeviceSum(Device device);

  /// Makes room for a sum of `count` values of `width` bytes over the group. True if memory had to grow.
  bool reserve(Context& ctx, const RankGroup& group, Index count, Index width);
  /// Begins to sum `values` in place: floats or doubles in the memory of ctx's device. Collective over the
  /// group, which must stay until the end.
  template <class T>
  void begin(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group, std::span<T> values);
  /// Waits for the sums. Work given to the stream afterwards finds them in place.
  void end(Context& ctx);
  /// begin() and end() at once.
  template <class T>
  void sum(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group, std::span<T> values) {
    begin(ctx, comm, purpose, group, values);
    end(ctx);
  }
  Index bytes() const { return terms_.held_bytes() + Index(staged_.bytes()); }

 private:
  Buffer<std::byte> terms_;      // other ranks' values, in the host's memory
  PinnedBuffer staged_;          // this rank's values
  std::span<std::byte> values_;  // where the staged values belong
  Event arrival_;
};

}  // namespace atl
