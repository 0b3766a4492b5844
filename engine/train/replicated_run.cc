#include "train/replicated_run.h"

#include <algorithm>

#include "comm/all_reduce.h"
#include "tensor/kernels.h"

namespace atl {

ReplicatedRun::ReplicatedRun(const Communicator& comm, std::vector<Rank> replicas, std::span<Real> values,
                             Device device)
    : replicas_(std::move(replicas)), values_(values) {
  if (everywhere()) {
    constexpr Index kWidth = sizeof(Real);
    terms_.resize(1, all_reduce_memory(comm.size(), comm.rank(), Index(values.size()), kWidth) / kWidth,
                  device);
    return;
  }
  const auto mine = std::find(replicas_.begin(), replicas_.end(), comm.rank());
  ATOLL_CHECK(mine != replicas_.end() && std::is_sorted(replicas_.begin(), replicas_.end()),
              "rank {} holds rows of which it is no replica", comm.rank());
  before_ = mine - replicas_.begin();
  const auto count = Index(values.size());
  others_.resize(Index(replicas_.size()) - 1, count, device);
  for (const Rank peer : replicas_) {
    if (peer == comm.rank()) continue;
    sends_.push_back({peer, ConstMatrixView(values.data(), 1, count)});
    receives_.push_back({peer, others_.view().slice_rows(Index(receives_.size()), 1)});
  }
}

/// Everybody sends all to all: groups of replicas are small where there are several of them.
void ReplicatedRun::begin_sum(Communicator& comm) {
  begun_ = true;
  if (everywhere())
    arrival_ =
        comm.begin_all_reduce(Traffic::kGradient, values_,
                              std::as_writable_bytes(std::span(terms_.data(), std::size_t(terms_.cols()))));
  else if (replicas_.size() > 1)
    arrival_ = comm.exchange(Lane::kSmall, Traffic::kGradient, sends_, receives_);
}

void ReplicatedRun::finish_sum(Context& ctx) {
  begun_ = false;
  arrival_.wait();
  if (everywhere() || replicas_.size() == 1) return;
  MatrixView mine(values_.data(), 1, Index(values_.size()));
  const MatrixView theirs = others_;
  for (Index r = 1; r < before_; ++r) axpby(ctx, 1, theirs.slice_rows(r, 1), 1, theirs.slice_rows(0, 1));
  for (Index r = 0; r < theirs.rows; ++r) {
    if (r == 0 || r >= before_) axpby(ctx, 1, theirs.slice_rows(r, 1), 1, mine);
  }
}

}  // namespace atl
