// Runs a range of a model's layers forward and backward, on whichever rows a pass has and with whichever version of the weights: a full
// batch, a stage of a pipeline and one of its chunks, a mini-batch are the same runner with other arguments.
#pragma once

#include "strategies/schedule/pass_memory.h"
#include "strategies/schedule/schedule.h"

namespace atl {

/// The verbs of one pass, told which layer is next.
class Pass : public Verbs {
 public:
  using Verbs::Verbs;
  virtual void bind(int layer) = 0;
  /// Whether forward is repeated during backward.
  void repeat(bool on) { state_.repeating = on; }
};

/// What the first layer of the range reads.
struct RangeInput {
  Rows rows;            // (inputs, in)
  ConstMatrixView tap;  // of a layer before the range; or empty
  Rows
      self{};  // (destinations, in) of packed rows with fewer destinations; empty: they are the first ones of `rows`
};

/// Gradients that leave the range, and one that enters it beside that of its output; empty: there are none.
struct RangeGradient {
  MatrixView rows;         // (inputs, in) of the first layer; written
  MatrixView tap;          // of a layer before the range; added to
  ConstMatrixView tapped;  // of the range's tapped layer's output, as layers behind the range have left it
};

/// Has no state of its own: a rank has one. References outlive it.
class LayerRunner {
 public:
  LayerRunner(Context& ctx, const Model& model, Trace* trace) : ctx_(ctx), model_(model), trace_(trace) {}

  /// The last layer's output is memory.output(). Collective where the layers' verbs are.
  void forward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input) const;
  /// One layer of it.
  void forward(int layer, Pass& pass, const WeightVersion& weights, PassMemory& memory,
               const RangeInput& input) const;
  /// After that forward, with the same arguments: adds to the weights' gradients. memory.d_output() is the gradient of the output, and
  /// isn't afterwards. `step`, where given, is told of each layer whose gradients are whole.
  void backward(Pass& pass, const WeightVersion& weights, PassMemory& memory, const RangeInput& input,
                const RangeGradient& gradient, TrainingStep* step) const;
  /// What `layer` reads, as forward has left it.
  LayerInput input_of(int layer, PassMemory& memory, const RangeInput& input) const;

 private:
  void backward_layer(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                      const RangeInput& input, MatrixView d_out, const LayerGradient& gradient,
                      TrainingStep* step) const;
  void tell(Work work, int layer) const;
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }

  Context& ctx_;
  const Model& model_;
  Trace* trace_;  // null: nobody asked for one
};

}  // namespace atl
