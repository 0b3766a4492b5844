// What layers compute in an epoch, in the three units that the machine's rates are measured in: dense
// operations, bytes of rows gathered at random, bytes of matrices streamed. The least that any implementation
// of these layers with these buffers would do: a kernel that reads a matrix twice doesn't get to count it
// twice. Plans predict times from it, and a pipeline's stages are divided by it.
#pragma once

#include "model/model.h"
#include "tensor/rates.h"

namespace atl {

using EpochWork = ComputeWork;

/// Of one layer of a pass.
struct LayerSize {
  double outputs = 0;  // rows
  double others = 0;   // rows of its input beside theirs
  double arcs = 0;
};

/// One layer of a model over rows of these numbers.
class LayerPass {
 public:
  /// input_is_fixed: it takes no gradient. The model outlives it.
  LayerPass(const Model& model, int layer, const LayerSize& size, bool input_is_fixed);

  EpochWork forward() const;
  ///   products   one for the weights' gradient, and one for the input's if it takes one
  ///   gathered   as forward; attention's backward gathers two rows an arc
  ///   streamed   input, output and saved matrices, each written once and read once
  EpochWork backward() const;

 private:
  double source_rows() const;
  double saved_bytes() const;
  EpochWork gathered_once() const;
  EpochWork products(double times) const;
  double input_bytes() const;
  EpochWork sparse_gathered() const;

  const LayerSpec& layer_;
  LayerSize size_;
  bool input_is_fixed_;
  bool attention_;               // the model's
  double input_, output_;        // bytes of a value of its rows
  bool bits_ = false;            // its input
  double sparse_nonzeros_ = -1;  // of all its source rows; −1: dense input
};

}  // namespace atl
