#include "train/replicated_run.h"

#include "comm/all_reduce.h"

namespace atl {

ReplicatedRun::ReplicatedRun(const Communicator& comm, const std::vector<Rank>& replicas,
                             std::span<Real> values, Device device, bool deterministic)
    : replicas_(std::make_unique<RankGroup>(comm, replicas)), values_(values) {
  constexpr Index kWidth = sizeof(Real);
  const bool is_hosts = memory_of(device).is_hosts;
  on_devices_ = !deterministic && !is_hosts && replicas_->everyone() && comm.sums_on_devices();
  if (on_devices_) return;
  terms_.resize(
      1, all_reduce_memory(replicas_->size(), replicas_->place(), Index(values.size()), kWidth) / kWidth,
      is_hosts ? device : Device::kCpu);
  if (!is_hosts && replicas_->size() > 1) staged_.resize(1, Index(values.size()));
}

void ReplicatedRun::begin_sum(Context& ctx, Communicator& comm) {
  begun_ = true;
  if (on_devices_) {
    arrival_ = comm.begin_device_sum(Traffic::kGradient, values_, ctx.stream);
    return;
  }
  std::span<Real> summed = values_;
  if (staged_.cols() > 0) {
    ctx.stream->download(staged_.data(), values_.data(), values_.size_bytes());
    summed = {staged_.data(), values_.size()};
  }
  const std::span terms(terms_.data(), std::size_t(terms_.cols()));
  arrival_ = comm.begin_all_reduce(Traffic::kGradient, *replicas_, summed, std::as_writable_bytes(terms),
                                   ctx.stream);
}

void ReplicatedRun::finish_sum(Context& ctx) {
  begun_ = false;
  arrival_.wait();
  if (staged_.cols() > 0) ctx.stream->upload(values_.data(), staged_.data(), values_.size_bytes());
}

}  // namespace atl
