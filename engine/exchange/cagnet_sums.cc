#include "exchange/cagnet_sums.h"

namespace atl {

CagnetSums::CagnetSums(Context& ctx, Communicator& comm, const GraphPart& part, const CagnetGrid& grid,
                       Precision wire)
    : ctx_(ctx), comm_(comm), wire_(ctx, wire), own_(std::size_t(comm.rank() % grid.replication)) {
  for (int column = 0; column < grid.replication; ++column) {
    const Rank rank = grid.at(grid.row(comm.rank()), column);
    members_.push_back({rank, vertices_, part.owned_by_rank[std::size_t(rank)]});
    vertices_ += members_.back().count;
  }
}

MatrixView CagnetSums::partial(Index cols) const {
  return ctx_.workspace->matrix("cagnet.partial", vertices_, cols);
}

void CagnetSums::merge(Traffic purpose, MatrixView partial, const Sum& sum) {
  const Member& own = members_[own_];
  const auto others = Index(members_.size()) - 1;
  MatrixView arrived = ctx_.workspace->matrix("cagnet.arrived", others * own.count, sum.target.cols);
  const Wire wire = wire_.of(purpose);
  sends_.clear(), receives_.clear(), terms_.clear();
  for (const Member& each : members_) {
    if (each.rank == own.rank) {
      terms_.push_back(partial.slice_rows(own.begin, own.count));
      continue;
    }
    const MatrixView from = arrived.slice_rows(Index(receives_.size()) * own.count, own.count);
    sends_.push_back(wire.pack(partial.slice_rows(each.begin, each.count)).message(each.rank));
    receives_.push_back(wire.packed(from).message(each.rank));
    terms_.push_back(from);
  }
  Event arrival = comm_.exchange(Lane::kBulk, purpose, sends_, receives_);
  sum.rows_travel();
  arrival.wait();
  bool begun = sum.begin != nullptr;
  for (std::size_t column = 0; column < terms_.size(); ++column) {
    if (column != own_) wire.unpack(terms_[column]);
    axpby(ctx_, 1, terms_[column], begun ? 1 : 0, sum.target);
    begun = true;
  }
}

ConstMatrixView CagnetSums::spread(const SumGradient& sum) {
  MatrixView whole = ctx_.workspace->matrix("cagnet.d_partial", vertices_, sum.d_target.cols);
  const Member& own = members_[own_];
  const MatrixView mine = whole.slice_rows(own.begin, own.count);
  axpby(ctx_, 1, sum.d_target, 0, mine);
  const PackedRows packed = wire_.pack_copy(mine, "cagnet.d_packed");
  sends_.clear(), receives_.clear();
  for (const Member& each : members_) {
    if (each.rank == own.rank) continue;
    sends_.push_back(packed.message(each.rank));
    receives_.push_back(wire_.packed(whole.slice_rows(each.begin, each.count)).message(each.rank));
  }
  Event spread = comm_.exchange(Lane::kBulk, Traffic::kHaloGradient, sends_, receives_);
  sum.gradients_travel();
  spread.wait();
  for (const Member& each : members_)
    if (each.rank != own.rank) wire_.unpack(whole.slice_rows(each.begin, each.count));
  return whole;
}

}  // namespace atl
