// The output of a model's constant layers for a rank's own rows, computed once and exactly. Batches without
// neighbours read nothing else (SIGN's powers of the adjacency: Frasca et al. 2020, section 3). Other ranks'
// rows are fetched slab by slab, as in exact inference.
#pragma once

#include <span>

#include "strategies/schedule/layerwise_inference.h"

namespace atl {

/// One per rank, used by its compute thread. The context must outlive it.
class ConstantRows {
 public:
  /// All of the model's layers that gather must be among the leading constant ones. `graph` and `options` are
  /// read only during this call. Collective.
  ConstantRows(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
               const BatchGraph& graph, const SlabOptions& options);

  /// (owned, the last constant layer's out), in the device's memory.
  ConstMatrixView all() const { return all_; }
  /// The rows (chosen, …) with these numbers; valid until the next call.
  ConstMatrixView of(std::span<const VertexId> rows);

  Index bytes() const { return all_.held_bytes() + chosen_.held_bytes() + copies_.bytes(); }
  /// How often memory had to grow.
  std::int64_t reallocations() const { return reallocations_; }

 private:
  Context& ctx_;
  Matrix all_, chosen_;
  DeviceCopies copies_;
  std::int64_t reallocations_ = 0;
};

}  // namespace atl
