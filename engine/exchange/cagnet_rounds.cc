#include "exchange/cagnet_rounds.h"

#include <algorithm>

namespace atl {

CagnetRounds::CagnetRounds(Context& ctx, Communicator& comm, const GraphPart& part,
                           const std::vector<ExchangedLayer>& layers, const CagnetGrid& grid, Precision wire)
    : ctx_(ctx),
      comm_(comm),
      part_(part),
      wire_(ctx, wire),
      rank_(comm.rank()),
      all_own_rows_(grid.replication == 1),
      all_(std::size_t(comm.size()), true) {
  ATOLL_CHECK(grid.ranks == comm.size() && part.owned_by_rank.size() == all_.size(), "{} and {} ranks of {}",
              grid.ranks, part.owned_by_rank.size(), all_.size());
  int slots = 1;
  place(own_, rank_, slots);
  for (int turn = 0; turn < grid.rows(); ++turn) {
    Round round{grid.source(rank_, turn), grid.reader(rank_, turn), {}};
    if (round.from == rank_) continue;
    place(round.read, round.from, slots);
    rounds_.push_back(round);
  }
  for (const ExchangedLayer& each : layers)
    if (each.gathers && !each.fixed) widest_ = std::max(widest_, each.cols);
  if (rounds_.empty()) return;
  for (Matrix& buffer : buffers_) buffer.resize(std::ranges::max(part.owned_by_rank), widest_, ctx.device);
}

/// Gives what is read of `owner` its place among the slots and in the halo.
void CagnetRounds::place(Read& read, Rank owner, int& slots) {
  const auto found = std::ranges::find(part_.owners, owner, &OwnerRows::owner);
  if (found == part_.owners.end()) return;
  read = {&*found, owner == rank_ ? 0 : slots++, halo_rows_};
  halo_rows_ += read.count();
}

std::vector<Index> CagnetRounds::source_rows() const {
  std::vector<Index> rows{all_own_rows_ ? part_.graph->owned : own_.count()};
  for (const Round& round : rounds_)
    if (round.read.rows != nullptr) rows.push_back(round.read.count());
  return rows;
}

/// Starts a round forward; after the last one, nothing.
Event CagnetRounds::start(std::size_t round, const Broadcast& b) {
  if (round >= rounds_.size()) return {};
  const auto [from, to, read] = rounds_[round];
  const Message send = b.own.message(to);
  Message receive{from, nullptr, 0};
  if (b.travels[std::size_t(from)])
    receive = b.wire.packed(buffer(round % 2, owned(from), b.gather.rows.cols())).message(from);
  return comm_.exchange(Lane::kBulk, b.gather.purpose, {&send, 1}, {&receive, 1});
}

/// False where no own row is read.
bool CagnetRounds::visit_own(const Gather& g, MatrixView halo, VisitSource visit) {
  if (all_own_rows_) {
    visit({&part_.own, g.rows, 0, true});
    return true;
  }
  if (own_.rows == nullptr) return false;
  MatrixView rows = halo.slice_rows(own_.halo_begin, own_.count());
  gather_rows(ctx_, g.rows.dense, own_.rows->rows.data(), rows);
  visit({&own_.rows->block, rows, 0, true});
  return true;
}

void CagnetRounds::forward(const Gather& g, const Travels& travels, MatrixView halo, VisitSource visit) {
  Broadcast broadcast{g, travels, wire_.of(g.purpose), {}};
  if (travels[std::size_t(rank_)] && !rounds_.empty())
    broadcast.own = broadcast.wire.pack_copy(g.rows.dense, "cagnet.packed");
  std::array<Event, 2> under_way{start(0, broadcast), start(1, broadcast)};
  bool first = !visit_own(g, halo, visit);
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    under_way[r % 2].wait();
    const auto& [from, to, read] = rounds_[r];
    MatrixView rows;
    if (read.rows != nullptr) {
      rows = halo.slice_rows(read.halo_begin, read.count());
      if (travels[std::size_t(from)]) {
        const MatrixView block = buffer(r % 2, owned(from), g.rows.cols());
        broadcast.wire.unpack(block);
        gather_rows(ctx_, block, read.rows->rows.data(), rows);
      }
    }
    under_way[r % 2] = start(r + 2, broadcast);  // the buffer is free again
    if (read.rows == nullptr) continue;
    visit({&read.rows->block, rows, read.slot, first});
    first = false;
  }
}

/// Starts a round of the way back: the gradients of the block that came in this round of forward go home, those that are
/// zero too. Own rows' arrive in the second buffer.
Event CagnetRounds::ship(const Round& round, const Travels& travels, ConstMatrixView d_read, Index cols) {
  Message send{round.from, nullptr, 0}, receive{round.to, nullptr, 0};
  if (travels[std::size_t(round.from)]) {
    MatrixView whole = buffer(0, owned(round.from), cols);
    fill(ctx_, 0, whole);
    if (round.read.rows != nullptr) scatter_add_rows(ctx_, d_read, round.read.rows->rows.data(), whole);
    send = wire_.pack(whole).message(round.from);
  }
  if (travels[std::size_t(rank_)]) receive = wire_.packed(buffer(1, owned(rank_), cols)).message(round.to);
  return comm_.exchange(Lane::kBulk, Traffic::kHaloGradient, {&send, 1}, {&receive, 1});
}

void CagnetRounds::visit_own(const Gather& g, ConstMatrixView halo, VisitSourceBackward visit,
                             MatrixView d_rows) {
  if (all_own_rows_) return visit({&part_.own, g.rows, 0, true}, d_rows);
  if (d_rows.cols > 0) fill(ctx_, 0, d_rows);
  if (own_.rows == nullptr) return;
  MatrixView d_read;
  if (d_rows.cols > 0) d_read = ctx_.workspace->matrix("cagnet.d_read", own_.count(), d_rows.cols);
  visit({&own_.rows->block, halo.slice_rows(own_.halo_begin, own_.count()), 0, true}, d_read);
  if (d_rows.cols > 0) scatter_add_rows(ctx_, d_read, own_.rows->rows.data(), d_rows);
}

void CagnetRounds::backward(const Gather& g, const Travels& travels, ConstMatrixView halo,
                            VisitSourceBackward visit, MatrixView d_rows) {
  const bool shipped = d_rows.cols > 0;
  Event under_way;
  const auto take = [&] {  // the round before's, which travelled meanwhile
    under_way.wait();
    if (!shipped || !travels[std::size_t(rank_)]) return;
    const MatrixView own = buffer(1, owned(rank_), d_rows.cols);
    wire_.unpack(own);
    axpby(ctx_, 1, own, 1, d_rows);
  };
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const Read& read = rounds_[r].read;
    MatrixView d_read;
    if (read.rows != nullptr) {
      if (shipped) d_read = ctx_.workspace->matrix("cagnet.d_read", read.count(), d_rows.cols);
      visit({&read.rows->block, halo.slice_rows(read.halo_begin, read.count()), read.slot, false}, d_read);
    }
    if (r > 0) take();
    if (shipped) under_way = ship(rounds_[r], travels, d_read, d_rows.cols);
    if (r == 0) visit_own(g, halo, visit, d_rows);
  }
  if (rounds_.empty()) return visit_own(g, halo, visit, d_rows);
  take();
}

void CagnetRounds::visit_features(const Rows& own, VisitSource visit) const {
  if (all_own_rows_) visit({&part_.own, own, 0, true});
  if (own_.rows != nullptr) visit({&own_.rows->block, own_.rows->features, 0, true});
  bool first = !all_own_rows_ && own_.rows == nullptr;
  for (const Round& round : rounds_) {
    if (round.read.rows == nullptr) continue;
    visit({&round.read.rows->block, round.read.rows->features, round.read.slot, first});
    first = false;
  }
}

}  // namespace atl
