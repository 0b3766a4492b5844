// What one rank computes in a training epoch, layer by layer (model/layer_work.h).
#pragma once

#include <span>

#include "model/layer_work.h"
#include "plan/rank_shape.h"

namespace atl {

/// Forward and backward of each of the rank's layers that runs each epoch. `recompute` adds another forward.
EpochWork epoch_work(const Model& model, const RankShape& shape, bool recompute);

/// Of mini-batches, whose layers (one `sizes` each) differ; as epoch_work() otherwise. Inputs of the first layers, up to `fixed`, take no
/// gradient.
EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute, int fixed = 0);

/// The forward alone.
EpochWork evaluation_work(const Model& model, const RankShape& shape);

}  // namespace atl
