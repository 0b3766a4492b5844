// The two blocks of a halo exchange, as a layer pulls them. Forward gives it own rows while halo rows travel,
// and then halo rows. Backward gives it halo rows first, so that their gradients travel while own rows' are
// computed. Slot 0 = owned rows, slot 1 = halo rows.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "comm/communicator.h"
#include "model/gather.h"
#include "strategies/exchange/boundary_set.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"
#include "tensor/kernels.h"
#include "tensor/matrix.h"

namespace atl {

// The two directions in which boundary rows travel: a layer's rows to the ranks that read them, and gradients
// of halo rows back to their owners. A BoundarySet says which rows travel and in which format. Each exchange
// decides how they are used and when they are waited for.

/// Rows that are in flight. A transfer without rows is complete from the beginning.
class PendingTransfer {
 public:
  /// Returns when the rows are here and unpacked. Otherwise as Event::wait().
  void wait();

 private:
  friend class HaloTransfer;
  Event event_;
  std::optional<Wire> wire_;  // none: the rows aren't packed
  MatrixView rows_;
  // each peer's rows are packed where its own rows begin; none: all rows are packed from the beginning on
  std::span<const BoundaryRows> peers_;
};

/// One per exchange; references must outlive it. Calls are collective. They concern the rows that travel in
/// `epoch`: `sent` rows leave and `arriving` rows come. Buffers must not move until the PendingTransfer is
/// waited for.
class HaloTransfer {
 public:
  HaloTransfer(Context& ctx, Communicator& comm) : ctx_(ctx), comm_(comm) {}

  /// Packs the boundary rows of `rows` (owned, cols) into `packed` (sent, cols) and starts the exchange,
  /// which fills `halo` (arriving, cols).
  PendingTransfer fetch(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, ConstMatrixView rows,
                        MatrixView packed, MatrixView halo);
  /// Starts the way back: sends d_halo (arriving, cols), which is overwritten by its packed form, and fills
  /// `received` (sent, cols).
  PendingTransfer send_gradients(BoundarySet& boundary_set, std::int64_t epoch, MatrixView d_halo,
                                 MatrixView received);
  /// d_rows (owned, cols) += received (sent, cols), peers by part, so that the sum is the same in every run.
  void add(BoundarySet& boundary_set, std::int64_t epoch, ConstMatrixView received, MatrixView d_rows);

 private:
  enum class Way { kOut, kBack };
  PendingTransfer start(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, Way way,
                        MatrixView boundary, MatrixView halo);

  Context& ctx_;
  Communicator& comm_;
  std::vector<Message> sends_, receives_;  // messages of the exchange that is being started
};

/// What gathers of both directions read.
struct HaloBlocks {
  const Block* own = nullptr;
  Rows rows;                            // (owned, cols), read by `own`
  BoundarySet* boundary_set = nullptr;  // its block reads the halo rows …
  std::int64_t epoch = 0;               // … of this epoch
  Rows halo;                            // (arriving, cols)
};

/// One gather after the other.
class HaloGather final : public Gather {
 public:
  /// `pending` completes blocks.halo.
  Gather& start(const HaloBlocks& blocks, PendingTransfer pending);
  const Source* next() override;

 private:
  enum class Step { kOwn, kHalo, kEnd } step_ = Step::kEnd;
  HaloBlocks blocks_;
  PendingTransfer pending_;
  Source source_;
};

/// The way back. Each exchange decides what happens to the gradients.
class HaloGatherBack : public Gather {
 public:
  /// The layer writes d_halo (arriving, cols) and d_rows (owned, cols); empty: the rows take no gradient.
  Gather& start(const HaloBlocks& blocks, MatrixView d_halo, MatrixView d_rows);
  const Source* next() final;

 protected:
  BoundarySet& boundary_set() const { return *blocks_.boundary_set; }
  std::int64_t epoch() const { return blocks_.epoch; }
  MatrixView d_halo() const { return d_halo_; }
  MatrixView d_rows() const { return d_rows_; }

 private:
  /// Called when d_halo() is final, and d_rows() isn't begun.
  virtual void send_gradients() = 0;
  /// Called when d_rows() has the own block's part: adds what other ranks have sent.
  virtual void add() = 0;

  enum class Step { kHalo, kOwn, kAdd, kEnd } step_ = Step::kEnd;
  HaloBlocks blocks_;
  MatrixView d_halo_, d_rows_;
  Source source_;
};

/// What gathers of a part's layers read: all rows of the part. If some rows are copies, gathers read only
/// those that are near enough (GraphPart::near); such a part is for training alone. Immutable; one per
/// exchange.
class BoundarySets {
 public:
  /// `trained`: the boundary rows that training's passes exchange; null: all rows, unrounded. A part that has
  /// copies takes from it only how rows travel. Context and part outlive it.
  BoundarySets(Context& ctx, const GraphPart& part, std::span<const ExchangedLayer> layers,
               std::unique_ptr<BoundarySet> trained);
  const Block& own(const ExchangedLayer& layer) const {
    return part_.near.empty() ? part_.own : part_.near[std::size_t(layer.hops_left)].own;
  }
  /// All boundary rows; for a pass that `trains`, `trained` in the layers whose rows travel.
  BoundarySet& of(const ExchangedLayer& layer, bool trains) const {
    if (!part_.near.empty()) return *whole_[std::size_t(layer.hops_left)];
    return trains && trained_ && !layer.fixed ? *trained_ : *whole_.front();
  }
  std::vector<Index> source_rows(const ExchangedLayer& layer) const {
    return {own(layer).src(), of(layer, false).arriving()};
  }
  /// The most `rows` that a layer has, of the layers whose rows travel.
  Index most(std::span<const ExchangedLayer> layers, Index (BoundarySet::*rows)() const) const;
  Index bytes() const;

 private:
  const GraphPart& part_;
  std::vector<std::unique_ptr<BoundarySet>> whole_;  // by number of gathering layers behind, or one for all
  std::unique_ptr<BoundarySet> trained_;
};

class HaloBuffers {
 public:
  /// `most`: the most halo rows of a gather; `kept`: halo rows of a layer whose backward reads them again.
  HaloBuffers(Device device, std::span<const ExchangedLayer> layers, Index most,
              FunctionRef<Index(const ExchangedLayer&)> kept)
      : kept_(layers.size()) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (!layers[l].gathers || layers[l].fixed) continue;
      widest_ = std::max(widest_, layers[l].cols);
      if (layers[l].keep) kept_[l].resize(kept(layers[l]), layers[l].cols, device);
    }
    shared_.resize(most, widest_, device);
  }

  Index widest() const { return widest_; }                          // most columns of rows that travel
  MatrixView kept(int layer) { return kept_[std::size_t(layer)]; }  // (kept, cols)
  /// Memory that all layers share; valid until the next layer takes it.
  MatrixView shared(Index rows, Index cols) { return {shared_.data(), rows, cols}; }
  Index bytes() const {
    Index total = shared_.held_bytes();
    for (const Matrix& each : kept_) total += each.held_bytes();
    return total;
  }

 private:
  Index widest_ = 0;
  Matrix shared_;             // (most, widest)
  std::vector<Matrix> kept_;  // by layer: (kept, cols), or empty
};

}  // namespace atl
