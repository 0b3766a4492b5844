// Sums a layer's gradients over ranks where only few features have a value in the step's rows. In a weight
// with a row per feature, the rows of all other features have gradient 0 on every rank, so only the rest
// travels, packed. The sums have the same bits as unpacked ones.
#pragma once

#include <span>
#include <vector>

#include "comm/device_sums.h"
#include "model/parameters.h"
#include "tensor/copies.h"

namespace atl {

class TouchedRows {
 public:
  /// `layer`: one whose parameters every rank holds whole.
  TouchedRows(Context& ctx, Communicator& comm, Parameters& parameters, int layer);

  int layer() const { return layer_; }
  /// Which features have a value in the rows of some rank's batch; the same on all ranks.
  void choose(Context& ctx, std::span<const VertexId> features);
  /// Collective.
  void begin_sum(Context& ctx, Communicator& comm);
  void finish_sum(Context& ctx);
  Index bytes() const { return packed_.held_bytes() + sum_.bytes() + copies_.bytes(); }

 private:
  /// Consecutive rows of the gradient. Where a weight has a row per feature, only the chosen rows are summed.
  struct Piece {
    MatrixView values;
    bool by_feature;
  };
  template <class Visit>
  void for_each_piece(Visit visit);

  int layer_;
  std::vector<Piece> pieces_;
  RankGroup everyone_;
  DeviceSum sum_;
  Matrix packed_;  // (1, elements)
  Index count_ = 0;
  DeviceCopies copies_;
  std::span<const VertexId> features_;  // where kernels read them
};

}  // namespace atl
