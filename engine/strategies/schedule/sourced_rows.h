// A batch's rows put together where a device's kernels read them, from where the device finds them (sampler/device_places.h).
#pragma once

#include "sampler/device_places.h"
#include "tensor/copies.h"

namespace atl {

/// What RowSources' numbers are rows of: matrices of as many columns, or empty ones.
struct RowPlaces {
  ConstMatrixView held{};   // in the device's memory
  ConstMatrixView hosts{};  // in the host's, as the device reads it
};

/// Used by the compute thread.
class SourcedRows {
 public:
  /// The context outlives it.
  explicit SourcedRows(Context& ctx) : ctx_(ctx), copies_(ctx) {}

  /// given (n, cols): rows that are at neither place, in the host's memory. (rows, cols), valid until the next call; given itself, where
  /// the host's memory is the device's.
  ConstMatrixView of(const RowSources& sources, const RowPlaces& places, const Matrix& given);

  Index bytes() const { return rows_.held_bytes() + parts_.held_bytes() + copies_.bytes(); }
  /// How often memory had to grow.
  Index growths() const { return growths_; }

 private:
  void gather(const RowSources& sources, const RowPlaces& places, const Matrix& given, MatrixView out);

  Context& ctx_;
  Matrix rows_, parts_;  // in order, and by sources
  DeviceCopies copies_;
  Index growths_ = 0;
};

}  // namespace atl
