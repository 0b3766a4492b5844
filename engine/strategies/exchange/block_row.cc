#include "strategies/exchange/block_row.h"

namespace atl {

CagnetRow::CagnetRow(Context& ctx, Communicator& comm, const GraphPart& part, const CagnetGrid& grid)
    : ctx_(ctx), comm_(comm), own_(std::size_t(comm.rank() % grid.replication)) {
  for (int column = 0; column < grid.replication; ++column) {
    const Rank rank = grid.at(grid.row(comm.rank()), column);
    members_.push_back({rank, vertices_, part.owned_by_rank[std::size_t(rank)]});
    vertices_ += members_.back().count;
  }
}

MatrixView CagnetRow::own(MatrixView of_row) const {
  return rows_of(members_[own_], of_row);
}

Event CagnetRow::collect(Traffic purpose, const Wire& wire, MatrixView partial) {
  const Index owned = members_[own_].count, others = Index(members_.size()) - 1;
  MatrixView arrived = ctx_.workspace->matrix("cagnet.arrived", others * owned, partial.cols);
  sends_.clear(), receives_.clear(), terms_.clear();
  for (const Member& each : members_) {
    if (each.rank == members_[own_].rank) {
      terms_.push_back(own(partial));
      continue;
    }
    const MatrixView from = arrived.slice_rows(Index(receives_.size()) * owned, owned);
    sends_.push_back(wire.pack(rows_of(each, partial)).message(each.rank));
    receives_.push_back(wire.packed(from).message(each.rank));
    terms_.push_back(from);
  }
  return comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
}

std::span<const MatrixView> CagnetRow::terms(const Wire& wire) const {
  for (std::size_t column = 0; column < terms_.size(); ++column)
    if (column != own_) wire.unpack(terms_[column]);
  return terms_;
}

Event CagnetRow::spread(Traffic purpose, const Wire& wire, MatrixView of_row) {
  const PackedRows packed = wire.pack_copy(own(of_row), "cagnet.d_packed");
  sends_.clear(), receives_.clear();
  for (const Member& each : members_) {
    if (each.rank == members_[own_].rank) continue;
    sends_.push_back(packed.message(each.rank));
    receives_.push_back(wire.packed(rows_of(each, of_row)).message(each.rank));
  }
  return comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
}

void CagnetRow::unpack(const Wire& wire, MatrixView of_row) const {
  for (const Member& each : members_)
    if (each.rank != members_[own_].rank) wire.unpack(rows_of(each, of_row));
}

}  // namespace atl
