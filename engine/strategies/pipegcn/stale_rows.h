// The rows, or gradients, that travel in one direction of one layer under PipeGCN. Rows that leave in one
// epoch arrive for the next one. Until then, those that arrived before are in use, as they came or smoothed.
// Smoothing (section 3.4) replaces arrivals by their moving average, a ← γ a + (1 − γ) arrived. It begins at
// zero, so without a correction the average of n arrivals is too small by the factor 1 − γⁿ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strategies/exchange/exchange.h"
#include "strategies/exchange/halo_gather.h"
#include "tensor/buffer.h"

namespace atl {

class StaleRows {
 public:
  struct Smoothing {
    double decay;          // γ
    bool bias_correction;  // divides by 1 − γⁿ
  };
  struct Error {
    double differences = 0, size = 0;  // sums of squares
  };

  /// Without columns nothing ever travels. The used rows are zero until something has arrived.
  StaleRows(Context& ctx, Index leaving, Index arriving, Index cols, std::optional<Smoothing> smoothing);

  bool travels() const { return arriving_.cols() > 0; }
  MatrixView leaving() { return leaving_; }    // (leaving, cols)
  MatrixView arriving() { return arriving_; }  // (arriving, cols): complete after wait()
  MatrixView used() { return used_; }          // (arriving, cols)

  /// Notes the transfer under way between these buffers.
  void start(PendingTransfer pending) { pending_ = std::move(pending); }
  void wait() { pending_.wait(); }
  /// Waits for the transfer under way and makes its rows, the nth to arrive, the used ones. `measures`:
  /// error() then says how far the rows used before were from these.
  void take(std::int64_t nth, bool measures);
  Error error() const;

  /// Adds the matrices that a resumed run needs, with names that begin with `name`. `is_used`: arrivals were
  /// used at once.
  void hold(std::vector<NamedMatrix>& all, const std::string& name, bool is_used);
  Index bytes() const;

 private:
  void measure_against_arriving();

  Context& ctx_;
  std::optional<Smoothing> smoothing_;
  Matrix leaving_, arriving_, used_;
  Matrix average_;  // (arriving, cols), where smoothed
  PendingTransfer pending_;
  Buffer<Error> error_;  // (1)
};

}  // namespace atl
