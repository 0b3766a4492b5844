#include "train/replicated_run.h"

namespace atl {

ReplicatedRun::ReplicatedRun(Context& ctx, const Communicator& comm, const std::vector<Rank>& replicas,
                             std::span<Real> values, bool deterministic)
    : replicas_(std::make_unique<RankGroup>(comm, replicas)), values_(values), sum_(ctx.device) {
  on_devices_ =
      !deterministic && !memory_of(ctx.device).is_hosts && replicas_->everyone() && comm.sums_on_devices();
  if (!on_devices_ && replicas_->size() > 1)
    sum_.reserve(ctx, *replicas_, Index(values.size()), Index(sizeof(Real)));
}

void ReplicatedRun::begin_sum(Context& ctx, Communicator& comm) {
  begun_ = true;
  if (on_devices_)
    arrival_ = comm.begin_device_sum(Traffic::kGradient, values_, ctx.stream);
  else
    sum_.begin(ctx, comm, Traffic::kGradient, *replicas_, values_);
}

void ReplicatedRun::finish_sum(Context& ctx) {
  begun_ = false;
  arrival_.wait();
  sum_.end(ctx);
}

}  // namespace atl
