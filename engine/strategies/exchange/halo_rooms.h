// Where halo rows lie from a layer's forward to its backward: layers that look at them again have a room each, all others share one.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "strategies/exchange/exchange.h"
#include "tensor/matrix.h"

namespace atl {

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
