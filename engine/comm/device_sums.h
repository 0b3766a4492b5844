// Sums over ranks of values in a device's memory, in rank order. The host adds them.
#pragma once

#include "comm/all_reduce.h"
#include "comm/communicator.h"
#include "tensor/buffer.h"
#include "tensor/context.h"

namespace atl {

/// Memory for one rank's sums. One sum runs at a time: the next begin() comes after end(). If the host can't
/// read the device's memory, values are copied to the host's memory and back.
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
  /// The size of memory that must grow. Memory that grows a second time serves batches and will grow again,
  /// so it gets a quarter more.
  static Index roomy(Index held, Index wanted) { return held > 0 ? wanted + wanted / 4 : wanted; }

  Buffer<std::byte> terms_;      // other ranks' values, in the host's memory
  PinnedBuffer staged_;          // this rank's values
  std::span<std::byte> values_;  // where the staged values belong
  Event arrival_;
};

inline DeviceSum::DeviceSum(Device device)
    : terms_(memory_of(device).is_hosts ? device : Device::kCpu), staged_(device) {}

inline bool DeviceSum::reserve(Context& ctx, const RankGroup& group, Index count, Index width) {
  const Index terms = all_reduce_memory(group.size(), group.place(), count, width);
  const Index staged = memory_of(ctx.device).is_hosts ? 0 : count * width;
  const Index terms_held = terms_.held_bytes(), staged_held = Index(staged_.bytes());
  if (terms <= terms_held && staged <= staged_held) return false;
  if (bytes() > 0) ctx.stream->synchronise();  // the previous sum may still use the memory
  if (terms > terms_held) terms_.resize(roomy(terms_held, terms));
  if (staged > staged_held) staged_.resize(std::size_t(roomy(staged_held, staged)));
  return true;
}

template <class T>
void DeviceSum::begin(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group,
                      std::span<T> values) {
  values_ = {};
  if (group.size() == 1 || values.empty()) return;
  reserve(ctx, group, Index(values.size()), Index(sizeof(T)));
  std::span<T> summed = values;
  if (!memory_of(ctx.device).is_hosts) {
    values_ = std::as_writable_bytes(values);
    summed = {reinterpret_cast<T*>(staged_.data()), values.size()};
    ctx.stream->copy_out(staged_.data(), values_.data(), values_.size());
  }
  arrival_ = comm.begin_all_reduce(purpose, group, summed, {terms_.data(), std::size_t(terms_.held_bytes())},
                                   ctx.stream);
}

inline void DeviceSum::end(Context& ctx) {
  arrival_.wait();
  if (!values_.empty()) ctx.stream->copy_in(values_.data(), staged_.data(), values_.size());
}

}  // namespace atl
