// What travels in one direction of one layer under PipeGCN: on its way until the next epoch, while what
// arrived for the last one is in use, as it came or smoothed. Smoothing (section 3.4) replaces what arrived
// by its moving average, a ← γ a + (1 − γ) arrived. It begins at zero, so that without a correction the
// average of n arrivals is too small by 1 − γⁿ.
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

  /// Without columns nothing ever travels. What is in use is zero until something has arrived.
  StaleRows(Context& ctx, Index leaving, Index arriving, Index cols, std::optional<Smoothing> smoothing);

  bool travels() const { return arriving_.cols() > 0; }
  MatrixView leaving() { return leaving_; }    // (leaving, cols)
  MatrixView arriving() { return arriving_; }  // (arriving, cols): whole after wait()
  MatrixView used() { return used_; }          // (arriving, cols)

  /// What leaves from and comes to these buffers is under way.
  void start(Arrival arrival) { arrival_ = std::move(arrival); }
  void wait() { arrival_.wait(); }
  /// Waits for what is under way, and makes it what is used: the nth to arrive. `measures`: error() tells how
  /// far what was used before was from it.
  void take(std::int64_t nth, bool measures);
  Error error() const;

  /// Adds what a run that goes on must find again, named `name` and more. `is_used`: what has arrived was
  /// used at once.
  void hold(std::vector<NamedMatrix>& all, const std::string& name, bool is_used);
  Index bytes() const;

 private:
  void measure_against_arriving();

  Context& ctx_;
  std::optional<Smoothing> smoothing_;
  Matrix leaving_, arriving_, used_;
  Matrix average_;  // (arriving, cols), where smoothed
  Arrival arrival_;
  Buffer<Error> error_;  // (1)
};

}  // namespace atl
