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
  std::vector<Message> sends, receives;
  std::vector<MatrixView> terms;  // by column
  for (const Member& each : members_) {
    if (each.rank == own.rank) {
      terms.push_back(partial.slice_rows(own.begin, own.count));
      continue;
    }
    const MatrixView from = arrived.slice_rows(Index(receives.size()) * own.count, own.count);
    sends.push_back(wire.pack(partial.slice_rows(each.begin, each.count)).message(each.rank));
    receives.push_back(wire.packed(from).message(each.rank));
    terms.push_back(from);
  }
  Event arrival = comm_.exchange(Lane::kBulk, purpose, sends, receives);
  sum.rows_travel();
  arrival.wait();
  bool begun = sum.begin != nullptr;
  for (std::size_t column = 0; column < terms.size(); ++column) {
    if (column != own_) wire.unpack(terms[column]);
    axpby(ctx_, 1, terms[column], begun ? 1 : 0, sum.target);
    begun = true;
  }
}

ConstMatrixView CagnetSums::spread(const SumGradient& sum) {
  MatrixView whole = ctx_.workspace->matrix("cagnet.d_partial", vertices_, sum.d_target.cols);
  const Member& own = members_[own_];
  const MatrixView mine = whole.slice_rows(own.begin, own.count);
  axpby(ctx_, 1, sum.d_target, 0, mine);
  const PackedRows packed = wire_.pack_copy(mine, "cagnet.d_packed");
  std::vector<Message> sends, receives;
  std::vector<MatrixView> others;
  for (const Member& each : members_) {
    if (each.rank == own.rank) continue;
    others.push_back(whole.slice_rows(each.begin, each.count));
    sends.push_back(packed.message(each.rank));
    receives.push_back(wire_.packed(others.back()).message(each.rank));
  }
  Event spread = comm_.exchange(Lane::kBulk, Traffic::kHaloGradient, sends, receives);
  sum.gradients_travel();
  spread.wait();
  for (const MatrixView& each : others) wire_.unpack(each);
  return whole;
}

}  // namespace atl
