#include "strategies/exchange/halo_gather.h"

#include <utility>

namespace atl {

Gather& HaloGather::start(const HaloBlocks& blocks, PendingTransfer pending) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  blocks_ = blocks;
  pending_ = std::move(pending);
  step_ = Step::kOwn;
  return *this;
}

/// Own rows are summed while halo rows travel, because the two share no memory.
const Source* HaloGather::next() {
  switch (step_) {
    case Step::kOwn:
      step_ = Step::kHalo;
      source_ = {blocks_.own, blocks_.rows, 0, true, blocks_.halo.rows() == 0, {}};
      return &source_;
    case Step::kHalo: {
      step_ = Step::kEnd;
      const Block& outer = blocks_.boundary_set->block(blocks_.epoch);
      pending_.wait();
      if (blocks_.halo.rows() == 0) return nullptr;
      source_ = {&outer, blocks_.halo, 1, false, true, {}};
      return &source_;
    }
    case Step::kEnd:
      break;
  }
  return nullptr;
}

Gather& HaloGatherBack::start(const HaloBlocks& blocks, MatrixView d_halo, MatrixView d_rows) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  blocks_ = blocks;
  d_halo_ = d_halo;
  d_rows_ = d_rows;
  step_ = Step::kHalo;
  return *this;
}

const Source* HaloGatherBack::next() {
  const bool travels = d_rows_.cols > 0;
  switch (step_) {
    case Step::kHalo:
      step_ = Step::kOwn;
      if (blocks_.halo.rows() > 0) {
        source_ = {&blocks_.boundary_set->block(blocks_.epoch), blocks_.halo, 1, false, false, d_halo_};
        return &source_;
      }
      [[fallthrough]];
    case Step::kOwn:
      step_ = Step::kAdd;
      if (travels) send_gradients();
      source_ = {blocks_.own, blocks_.rows, 0, true, true, d_rows_};
      return &source_;
    case Step::kAdd:
      step_ = Step::kEnd;
      if (travels) add();
      break;
    case Step::kEnd:
      break;
  }
  return nullptr;
}

void PendingTransfer::wait() {
  event_.wait();
  if (!wire_) return;
  if (peers_.empty()) wire_->unpack(rows_);
  for (const BoundaryRows& peer : peers_)
    wire_->unpack(rows_.slice_rows(peer.receive_begin, peer.receive_count));
  wire_.reset();
}

PendingTransfer HaloTransfer::fetch(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose,
                                    ConstMatrixView rows, MatrixView packed, MatrixView halo) {
  const Wire wire = Wire(ctx_, boundary_set.wire()).of(purpose);
  Index row = 0;
  for (const BoundaryRows& peer : boundary_set.peers(epoch)) {
    const auto count = Index(peer.send.size());
    wire.gather(rows, peer.send.data(), wire.packed(packed).slice(row, count));
    row += count;
  }
  return start(boundary_set, epoch, purpose, Way::kOut, packed, halo);
}

PendingTransfer HaloTransfer::send_gradients(BoundarySet& boundary_set, std::int64_t epoch, MatrixView d_halo,
                                             MatrixView received) {
  const Wire wire(ctx_, boundary_set.wire());
  for (const BoundaryRows& peer : boundary_set.peers(epoch))
    wire.pack(d_halo.slice_rows(peer.receive_begin, peer.receive_count));
  return start(boundary_set, epoch, Traffic::kHaloGradient, Way::kBack, received, d_halo);
}

/// Sends `boundary` (sent, cols) and receives `halo` (arriving, cols), or the reverse on the way back. Halo
/// rows are packed peer by peer, so that rows of other chunks, which lie between them, stay as they are.
PendingTransfer HaloTransfer::start(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, Way way,
                                    MatrixView boundary, MatrixView halo) {
  const Wire wire = Wire(ctx_, boundary_set.wire()).of(purpose);
  const PackedRows near = wire.packed(boundary);
  sends_.clear();
  receives_.clear();
  Index row = 0;
  for (const BoundaryRows& peer : boundary_set.peers(epoch)) {
    const auto count = Index(peer.send.size());
    const Message own = near.slice(row, count).message(peer.peer),
                  others =
                      wire.packed(halo.slice_rows(peer.receive_begin, peer.receive_count)).message(peer.peer);
    (way == Way::kOut ? sends_ : receives_).push_back(own);
    (way == Way::kOut ? receives_ : sends_).push_back(others);
    row += count;
  }
  PendingTransfer pending;
  pending.event_ = comm_.exchange(Lane::kBulk, purpose, sends_, receives_, ctx_.stream);
  pending.wire_ = wire;
  pending.rows_ = way == Way::kOut ? halo : boundary;
  if (way == Way::kOut) pending.peers_ = boundary_set.peers(epoch);
  return pending;
}

void HaloTransfer::add(BoundarySet& boundary_set, std::int64_t epoch, ConstMatrixView received,
                       MatrixView d_rows) {
  Index row = 0;
  for (const BoundaryRows& peer : boundary_set.peers(epoch)) {
    const auto count = Index(peer.send.size());
    scatter_add_rows(ctx_, received.slice_rows(row, count), peer.send.data(), d_rows);
    row += count;
  }
}

BoundarySets::BoundarySets(Context& ctx, const GraphPart& part, std::span<const ExchangedLayer> layers,
                           std::unique_ptr<BoundarySet> trained)
    : part_(part), trained_(std::move(trained)) {
  if (part.near.empty()) {
    whole_.push_back(std::make_unique<WholeBoundarySet>(ctx, *part.graph, part.outer));
    return;
  }
  const Precision wire = trained_ ? trained_->wire() : Precision::kFloat32;
  for (const NearRows& near : part.near) {
    const auto is_once = [&](const ExchangedLayer& each) {
      return each.gathers && each.once && each.hops_left == int(whole_.size());
    };
    const Precision of_layer = std::ranges::any_of(layers, is_once) ? Precision::kFloat32 : wire;
    whole_.push_back(std::make_unique<WholeBoundarySet>(ctx, near.peers, near.halo, near.outer, of_layer));
  }
}

Index BoundarySets::most(std::span<const ExchangedLayer> layers, Index (BoundarySet::*rows)() const) const {
  Index most = 0;
  for (const ExchangedLayer& each : layers)
    if (each.gathers && !each.fixed) most = std::max(most, (of(each, false).*rows)());
  return most;
}

Index BoundarySets::bytes() const {
  Index sum = trained_ ? trained_->bytes() : 0;
  for (std::size_t i = 0; i < part_.near.size(); ++i) sum += whole_[i]->bytes();
  return sum;
}

}  // namespace atl
