// The two directions in which boundary rows travel: a layer's rows to the ranks that read them, and gradients of halo rows back
// to their owners. Which rows those are, and in which format they cross, is a BoundarySet's; what is done with them, and when they
// are waited for, each exchange's.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "strategies/exchange/boundary_set.h"
#include "strategies/exchange/wire.h"
#include "tensor/kernels.h"

namespace atl {

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
  std::span<const BoundaryRows>
      peers_;  // whose rows lie packed where they begin; none: all lie at the beginning
};

/// One per exchange; references outlive it. Calls are collective, about the rows that cross in `epoch`: `sent` of them
/// leave, `arriving` come. Until the Arrival all buffers stay put.
class HaloTransfer {
 public:
  HaloTransfer(Context& ctx, Communicator& comm) : ctx_(ctx), comm_(comm) {}

  /// Packs the boundary rows of `rows` (owned, cols) into `packed` (sent, cols) and starts the exchange, which fills `halo`
  /// (arriving, cols).
  Arrival fetch(BoundarySet& boundary_set, std::int64_t epoch, Traffic purpose, ConstMatrixView rows,
                MatrixView packed, MatrixView halo);
  /// Starts the way back: d_halo (arriving, cols) goes out, and isn't whole any more; `received` (sent, cols) is filled.
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

}  // namespace atl
