// What one rank computes in a training epoch, in the three units that the machine's rates are measured in:
// dense operations, bytes of rows gathered at random, bytes of matrices streamed. The least that any
// implementation of these layers with these buffers would do: a kernel that reads a matrix twice doesn't get
// to count it twice.
#pragma once

#include "model/model.h"
#include "plan/dry_part.h"
#include "tensor/rates.h"

namespace atl {

struct EpochWork {
  double product_flops = 0;   // of dense products
  double gathered_bytes = 0;  // neighbours' rows and the arcs that name them, without reuse in caches
  double streamed_bytes = 0;  // inputs, outputs, saved matrices and their gradients
};

/// By layer, forward and backward:
///   products   flops of the forward; once more for the weights' gradient, once more for the input's if it
///   takes one gathered   arcs · (4 + 4 · columns) forward and backward; attention's backward gathers two
///   rows an arc streamed   input, output and saved matrices, each written once and read once in either
///   direction
/// `recompute` adds another forward.
EpochWork epoch_work(const Model& model, const RankShape& shape, const FeatureShape& features,
                     bool recompute);

/// Of one layer of a pass.
struct LayerSize {
  double outputs = 0;  // rows
  double others = 0;   // rows of its input beside theirs
  double arcs = 0;
};
/// Of mini-batches, whose layers (one `sizes` each) differ; as epoch_work() otherwise. Dense features.
EpochWork batch_work(const Model& model, std::span<const LayerSize> sizes, bool recompute);

/// The forward alone.
EpochWork evaluation_work(const Model& model, const RankShape& shape, const FeatureShape& features);

/// Seconds at these rates, one kind of work after the other.
double seconds_of(const EpochWork& work, const MachineRates& rates);

}  // namespace atl
