#include "strategies/exchange/block_rounds.h"

#include <algorithm>

namespace atl {
namespace {

constexpr ScratchKey kReadGradients;  // of the block that a round reads

}  // namespace

CagnetRounds::CagnetRounds(Context& ctx, Communicator& comm, const GraphPart& part, const OwnerBlocks& blocks,
                           const std::vector<ExchangedLayer>& layers, const CagnetGrid& grid, Precision wire)
    : ctx_(ctx),
      comm_(comm),
      part_(part),
      blocks_(blocks),
      wire_(ctx, wire),
      rank_(comm.rank()),
      all_own_rows_(grid.replication == 1),
      all_(std::size_t(comm.size()), true) {
  ATOLL_CHECK(grid.ranks == comm.size() && blocks.owned_by_rank.size() == all_.size(),
              "{} and {} ranks of {}", grid.ranks, blocks.owned_by_rank.size(), all_.size());
  int slots = 1;
  place(own_, rank_, slots);
  for (int turn = 0; turn < grid.rows(); ++turn) {
    Round round{grid.source(rank_, turn), grid.reader(rank_, turn), {}};
    if (round.from == rank_) continue;
    place(round.read, round.from, slots);
    rounds_.push_back(round);
    if (round.read.rows != nullptr) rounds_to_read_ = rounds_.size();
  }
  for (const ExchangedLayer& each : layers)
    if (each.gathers && !each.fixed) widest_ = std::max(widest_, each.cols);
  if (rounds_.empty()) return;
  for (Matrix& buffer : buffers_) buffer.resize(std::ranges::max(blocks.owned_by_rank), widest_, ctx.device);
}

/// Gives the rows that are read of `owner` their place among the slots and in the halo.
void CagnetRounds::place(Read& read, Rank owner, int& slots) {
  const auto found = std::ranges::find(blocks_.owners, owner, &OwnerRows::owner);
  if (found == blocks_.owners.end()) return;
  read = {&*found, owner == rank_ ? 0 : slots++, halo_rows_};
  halo_rows_ += read.count();
}

std::vector<Index> CagnetRounds::source_rows() const {
  std::vector<Index> rows{all_own_rows_ ? part_.graph->owned : own_.count()};
  for (const Round& round : rounds_)
    if (round.read.rows != nullptr) rows.push_back(round.read.count());
  return rows;
}

Gather& CagnetRounds::gather(const GatherRequest& what, const Travels& travels, MatrixView halo) {
  return there_.start(what, &travels, halo);
}

Gather& CagnetRounds::gather_back(const GatherRequest& what, const Travels& travels, ConstMatrixView halo,
                                  MatrixView d_rows) {
  return back_.start(what, &travels, halo, d_rows);
}

Gather& CagnetRounds::gather_features(const Rows& own) {
  return there_.start({0, own, Traffic::kSetup}, nullptr, {});
}

Gather& CagnetRounds::There::start(const GatherRequest& what, const Travels* travels, MatrixView halo) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  travels_ = travels;
  rows_ = what.rows;
  purpose_ = what.purpose;
  wire_ = r_.wire_.of(what.purpose);
  halo_ = halo;
  step_ = Step::kStart;
  at_ = 0;
  if (r_.merge_ == nullptr) start_rounds();
  return *this;
}

/// Begins the rounds. Where ranks merge partial sums, scores travel before this, so that messages have the
/// same order at both ends of each link.
void CagnetRounds::There::start_rounds() {
  static constexpr ScratchKey kPacked;
  packed_ = {};
  if (travels_ != nullptr && (*travels_)[std::size_t(r_.rank_)] && !r_.rounds_.empty())
    packed_ = wire_.pack_copy(rows_.dense, kPacked);
  under_way_ = {receive(0), receive(1)};
  step_ = Step::kOwn;
}

/// Starts a round; does nothing after the last one.
Event CagnetRounds::There::receive(std::size_t round) {
  if (travels_ == nullptr || round >= r_.rounds_.size()) return {};
  const auto [from, to, read] = r_.rounds_[round];
  const Message send = packed_.message(to);
  Message receive{from, nullptr, 0};
  if ((*travels_)[std::size_t(from)])
    receive = wire_.packed(r_.buffer(round % 2, r_.owned(from), rows_.cols())).message(from);
  return r_.comm_.exchange(Lane::kBulk, purpose_, {&send, 1}, {&receive, 1}, r_.ctx_.stream);
}

const Source* CagnetRounds::There::next() {
  if (step_ == Step::kStart) start_rounds();
  if (step_ == Step::kOwn) {
    step_ = Step::kRounds;
    if (take_own()) return &source_;
  }
  while (at_ < r_.rounds_.size()) {
    const std::size_t round = at_++;
    if (take(r_.rounds_[round])) {
      source_.last = r_.is_last(round);
      return &source_;
    }
  }
  step_ = Step::kEnd;
  return nullptr;
}

/// False where no own row is read.
bool CagnetRounds::There::take_own() {
  const bool is_last = r_.rounds_to_read_ == 0;
  if (r_.all_own_rows_) {
    source_ = {&r_.part_.own, rows_, 0, true, is_last, {}};
    return true;
  }
  const Read& own = r_.own_;
  if (own.rows == nullptr) return false;
  if (travels_ == nullptr) {
    source_ = {&own.rows->block, r_.features(own), 0, true, is_last, {}};
    return true;
  }
  const MatrixView rows = halo_.slice_rows(own.halo_begin, own.count());
  gather_rows(r_.ctx_, rows_.dense, own.rows->rows.data(), rows);
  source_ = {&own.rows->block, Rows(rows), 0, true, is_last, {}};
  return true;
}

/// Waits for a round, and starts the next but one in the buffer that is free then. False where none of the
/// block's rows are read.
bool CagnetRounds::There::take(const Round& round) {
  const auto& [from, to, read] = round;
  if (travels_ == nullptr) {
    if (read.rows != nullptr) source_ = {&read.rows->block, r_.features(read), read.slot, false, false, {}};
    return read.rows != nullptr;
  }
  const std::size_t turn = at_ - 1;
  under_way_[turn % 2].wait();
  MatrixView rows;
  if (read.rows != nullptr) {
    rows = halo_.slice_rows(read.halo_begin, read.count());
    if ((*travels_)[std::size_t(from)]) {
      const MatrixView block = r_.buffer(turn % 2, r_.owned(from), rows_.cols());
      wire_.unpack(block);
      gather_rows(r_.ctx_, block, read.rows->rows.data(), rows);
    }
  }
  under_way_[turn % 2] = receive(turn + 2);
  if (read.rows != nullptr) source_ = {&read.rows->block, Rows(rows), read.slot, false, false, {}};
  return read.rows != nullptr;
}

Gather& CagnetRounds::Back::start(const GatherRequest& what, const Travels* travels, ConstMatrixView halo,
                                  MatrixView d_rows) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  travels_ = travels;
  rows_ = what.rows;
  halo_ = halo;
  d_rows_ = d_rows;
  at_ = 0;
  step_ = r_.rounds_.empty() ? Step::kOwn : Step::kRead;
  return *this;
}

const Source* CagnetRounds::Back::next() {
  for (;;) {
    switch (step_) {
      case Step::kRead:
        step_ = Step::kSend;
        if (read(r_.rounds_[at_])) return &source_;
        break;
      case Step::kSend:
        if (at_ > 0) add_arrived();
        send_gradients(r_.rounds_[at_]);
        step_ = at_ == 0 ? Step::kOwn : Step::kNext;
        break;
      case Step::kOwn:
        step_ = Step::kNext;
        if (read_own()) return &source_;
        break;
      case Step::kNext:
        if (at_ == 0 && !r_.all_own_rows_ && r_.own_.rows != nullptr && d_rows_.cols > 0)
          scatter_add_rows(r_.ctx_, d_read_, r_.own_.rows->rows.data(), d_rows_);
        step_ = ++at_ < r_.rounds_.size() ? Step::kRead : Step::kEnd;
        if (step_ == Step::kEnd) add_arrived();
        break;
      case Step::kEnd:
        return nullptr;
    }
  }
}

/// Makes the rows that are read of a round's block the next source. False where there are none.
bool CagnetRounds::Back::read(const Round& round) {
  const Read& read = round.read;
  d_read_ = {};
  if (read.rows == nullptr) return false;
  if (d_rows_.cols > 0) d_read_ = r_.ctx_.workspace->matrix(kReadGradients, read.count(), d_rows_.cols);
  const bool own_comes = at_ == 0 && (r_.all_own_rows_ || r_.own_.rows != nullptr);
  const ConstMatrixView rows = halo_.slice_rows(read.halo_begin, read.count());
  source_ = {&read.rows->block, Rows(rows), read.slot, false, !own_comes && r_.is_last(at_), d_read_};
  return true;
}

bool CagnetRounds::Back::read_own() {
  const bool is_last = r_.rounds_to_read_ <= 1;
  if (r_.all_own_rows_) {
    source_ = {&r_.part_.own, rows_, 0, true, is_last, d_rows_};
    return true;
  }
  if (d_rows_.cols > 0) fill(r_.ctx_, 0, d_rows_);
  const Read& own = r_.own_;
  if (own.rows == nullptr) return false;
  if (d_rows_.cols > 0) d_read_ = r_.ctx_.workspace->matrix(kReadGradients, own.count(), d_rows_.cols);
  const ConstMatrixView rows = halo_.slice_rows(own.halo_begin, own.count());
  source_ = {&own.rows->block, Rows(rows), 0, true, is_last, d_read_};
  return true;
}

/// Starts a round of the way back: sends the gradients of the block that came in this round to its owner,
/// zeros included. Those of own rows arrive in the second buffer.
void CagnetRounds::Back::send_gradients(const Round& round) {
  const Index cols = d_rows_.cols;
  if (cols == 0) return;
  Message send{round.from, nullptr, 0}, receive{round.to, nullptr, 0};
  if ((*travels_)[std::size_t(round.from)]) {
    MatrixView whole = r_.buffer(0, r_.owned(round.from), cols);
    fill(r_.ctx_, 0, whole);
    if (round.read.rows != nullptr) scatter_add_rows(r_.ctx_, d_read_, round.read.rows->rows.data(), whole);
    send = r_.wire_.pack(whole).message(round.from);
  }
  if ((*travels_)[std::size_t(r_.rank_)])
    receive = r_.wire_.packed(r_.buffer(1, r_.owned(r_.rank_), cols)).message(round.to);
  under_way_ =
      r_.comm_.exchange(Lane::kBulk, Traffic::kHaloGradient, {&send, 1}, {&receive, 1}, r_.ctx_.stream);
}

/// Adds the gradients of the round before, which travelled meanwhile.
void CagnetRounds::Back::add_arrived() {
  under_way_.wait();
  if (d_rows_.cols == 0 || r_.rounds_.empty() || !(*travels_)[std::size_t(r_.rank_)]) return;
  const MatrixView own = r_.buffer(1, r_.owned(r_.rank_), d_rows_.cols);
  r_.wire_.unpack(own);
  axpby(r_.ctx_, 1, own, 1, d_rows_);
}

}  // namespace atl
