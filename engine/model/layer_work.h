// What layers compute in an epoch, in the units of the machine's measured rates: dense operations, bytes of
// rows gathered at random, bytes of matrices streamed. It is the least that any implementation of these
// layers with these buffers needs; a kernel that reads a matrix twice still counts it once. Plans predict
// times from it, and divide a pipeline into stages by it.
#pragma once

#include "model/model.h"
#include "tensor/rates.h"

namespace atl {

using EpochWork = ComputeWork;

/// Numbers of rows and arcs of one layer of a pass.
struct LayerSize {
  double outputs = 0;  // rows
  double others = 0;   // rows of its input beside the outputs'
  double arcs = 0;
};

/// A pass over one layer of a model, whose rows and arcs are as many as LayerSize says.
class LayerPass {
 public:
  /// input_is_fixed: the input takes no gradient. The model must outlive this.
  LayerPass(const Model& model, int layer, const LayerSize& size, bool input_is_fixed);

  EpochWork forward() const;
  /// products: one for the weights' gradient, and one for the input's if it takes one.
  /// gathered: as forward; attention's backward gathers two rows per arc.
  /// streamed: input, output and saved matrices, each written once and read once.
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
  bool attention_;               // whether the model has attention
  double input_, output_;        // bytes of a value of the input's and the output's rows
  bool bits_ = false;            // whether the input is bits
  double sparse_nonzeros_ = -1;  // nonzeros of all its source rows; −1: dense input
};

}  // namespace atl
