#include "comm/device_sums.h"

#include "comm/all_reduce.h"

namespace atl {
namespace {

/// Memory that grows a second time serves batches and will grow again, so it gets a quarter more.
Index roomy(Index held, Index wanted) {
  return held > 0 ? wanted + wanted / 4 : wanted;
}

}  // namespace

DeviceSum::DeviceSum(Device device)
    : terms_(memory_of(device).is_hosts ? device : Device::kCpu), staged_(device) {}

bool DeviceSum::reserve(Context& ctx, const RankGroup& group, Index count, Index width) {
  const Index terms = all_reduce_memory(group.size(), group.place(), count, width);
  const Index staged = memory_of(ctx.device).is_hosts ? 0 : count * width;
  const Index terms_held = terms_.held_bytes(), staged_held = Index(staged_.bytes());
  if (terms <= terms_held && staged <= staged_held) return false;
  if (bytes() > 0) ctx.stream->synchronise();  // the sum before still uses the memory
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
template void DeviceSum::begin(Context&, Communicator&, Traffic, const RankGroup&, std::span<float>);
template void DeviceSum::begin(Context&, Communicator&, Traffic, const RankGroup&, std::span<double>);

void DeviceSum::end(Context& ctx) {
  arrival_.wait();
  if (!values_.empty()) ctx.stream->copy_in(values_.data(), staged_.data(), values_.size());
}

}  // namespace atl
