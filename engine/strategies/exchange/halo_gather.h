// The two blocks of a halo exchange, as a layer pulls them. There: own rows, while halo rows travel, then
// halo rows. Back: halo rows first, so that their gradients travel while own ones are computed. Slot
// 0 = owned rows, slot 1 = halo rows.
#pragma once

#include <algorithm>
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
// of halo rows back to their owners. Which rows those are, and in which format they cross, is a
// BoundarySet's; what is done with them, and when they are waited for, each exchange's.

/// Rows under way; without any, complete.
class Arrival {
 public:
  /// Returns when the rows are here and whole. As Event::wait().
  void wait();

 private:
  friend class HaloTransfer;
  Event event_;
  std::optional<Wire> wire_;  // none: the rows are whole
  MatrixView rows_;
  // whose rows lie packed where they begin; none: all lie at the beginning
  std::span<const BoundaryRows> peers_;
};

/// One per exchange; references outlive it. Calls are collective, about the rows that cross in `epoch`:
/// `sent` of them leave, `arriving` come. Until the Arrival all buffers stay put.
class HaloTransfer {
 public:
  HaloTransfer(Context& ctx, Communicator& comm) : ctx_(ctx), comm_(comm) {}

  /// Packs the boundary rows of `rows` (owned, cols) into `packed` (sent, cols) and starts the exchange,
  /// which fills `halo` (arriving, cols).
  Arrival fetch(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, ConstMatrixView rows,
                MatrixView packed, MatrixView halo);
  /// Starts the way back: d_halo (arriving, cols) goes out, and isn't whole any more; `received` (sent, cols)
  /// is filled.
  Arrival ship(BoundarySet& boundary_set, std::int64_t epoch, MatrixView d_halo, MatrixView received);
  /// d_rows (owned, cols) += received (sent, cols), peers by part, so that the sum is the same in every run.
  void add(BoundarySet& boundary_set, std::int64_t epoch, ConstMatrixView received, MatrixView d_rows);

 private:
  enum class Way { kOut, kBack };
  Arrival start(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, Way way, MatrixView boundary,
                MatrixView halo);

  Context& ctx_;
  Communicator& comm_;
  std::vector<Message> sends_, receives_;  // of the exchange being started
};

/// What both ways read.
struct HaloBlocks {
  const Block* own = nullptr;
  Rows rows;                            // (owned, cols), read by `own`
  BoundarySet* boundary_set = nullptr;  // whose block reads the halo rows …
  std::int64_t epoch = 0;               // … of this epoch
  Rows halo;                            // (arriving, cols)
};

/// Of one gather, and again of the next one when that has ended.
class HaloGather final : public Gather {
 public:
  /// blocks.halo is whole when `arrival` is.
  Gather& start(const HaloBlocks& blocks, Arrival arrival);
  const Source* next() override;

 private:
  enum class Step { kOwn, kHalo, kEnd } step_ = Step::kEnd;
  HaloBlocks blocks_;
  Arrival arrival_;
  Source source_;
};

/// What an exchange does with the gradients is its own.
class HaloGatherBack : public Gather {
 public:
  /// d_halo (arriving, cols) and d_rows (owned, cols) are written by the layer; empty: the rows take no
  /// gradient.
  Gather& start(const HaloBlocks& blocks, MatrixView d_halo, MatrixView d_rows);
  const Source* next() final;

 protected:
  BoundarySet& boundary_set() const { return *blocks_.boundary_set; }
  std::int64_t epoch() const { return blocks_.epoch; }
  MatrixView d_halo() const { return d_halo_; }
  MatrixView d_rows() const { return d_rows_; }

 private:
  /// d_halo() is final; d_rows() isn't begun.
  virtual void ship() = 0;
  /// d_rows() has the own blocks' part; what other ranks have sent is added.
  virtual void add() = 0;

  enum class Step { kHalo, kOwn, kAdd, kEnd } step_ = Step::kEnd;
  HaloBlocks blocks_;
  MatrixView d_halo_, d_rows_;
  Source source_;
};

class HaloRooms {
 public:
  /// `most`: halo rows of any gather; `kept`: of each layer's gathers whose rows are looked at again.
  HaloRooms(Device device, std::span<const ExchangedLayer> layers, Index most,
            FunctionRef<Index(const ExchangedLayer&)> kept)
      : kept_(layers.size()) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (!layers[l].gathers || layers[l].fixed) continue;
      widest_ = std::max(widest_, layers[l].cols);
      if (layers[l].keep) kept_[l].resize(kept(layers[l]), layers[l].cols, device);
    }
    shared_.resize(most, widest_, device);
  }

  Index widest() const { return widest_; }                          // columns of a layer whose rows travel
  MatrixView kept(int layer) { return kept_[std::size_t(layer)]; }  // (kept, cols)
  /// Until the next layer's.
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
