#include "strategies/schedule/layer_runner.h"

namespace atl {

void LayerRunner::tell(Work work, int l) const {
  if (trace_ != nullptr) trace_->enter(work, l);
}

/// Destinations are the first rows of a layer's input, and of whatever lies below it.
LayerInput LayerRunner::input_of(int l, PassMemory& memory, const RangeInput& input) const {
  const LayerRows& rows = memory.rows(l);
  LayerInput in;
  in.rows = l == memory.layers().first ? input.rows : Rows(ConstMatrixView(memory.input(l)));
  in.self = in.rows;
  if (rows.destinations < in.rows.rows())
    in.self = in.rows.packed() ? input.self : Rows(in.rows.dense.slice_rows(0, rows.destinations));
  const int tap = layer(l).spec().tap;
  if (tap >= 0) {
    const ConstMatrixView tapped =
        memory.layers().contains(tap) ? ConstMatrixView(memory.output(tap)) : input.tap;
    in.tap = tapped.slice_rows(0, rows.outputs);
  }
  return in;
}

void LayerRunner::forward(Pass& pass, const WeightVersion& weights, PassMemory& memory,
                          const RangeInput& input) const {
  for (int l = memory.layers().first; l < memory.layers().end; ++l) forward(l, pass, weights, memory, input);
}

void LayerRunner::forward(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                          const RangeInput& input) const {
  tell(pass.state().repeating  ? Work::kRecompute
       : pass.state().training ? Work::kForward
                               : Work::kEvaluation,
       l);
  pass.bind(l);
  layer(l).forward(pass, {weights, l}, input_of(l, memory, input), memory.saved(l), memory.output(l));
}

void LayerRunner::backward(Pass& pass, const WeightVersion& weights, PassMemory& memory,
                           const RangeInput& input, const RangeGradient& gradient, TrainingStep* step) const {
  const LayerRange range = memory.layers();
  const int tapped = memory.tapped();
  if (tapped >= 0) fill(ctx_, 0, memory.d_tap());
  if (tapped >= 0 && gradient.tapped.cols > 0) axpby(ctx_, 1, gradient.tapped, 1, memory.d_tap());
  MatrixView d_out = memory.d_output();
  for (int l = range.end - 1; l >= range.first; --l) {
    const LayerRows& rows = memory.rows(l);
    LayerGradient of_input;
    of_input.rows = l > range.first ? memory.d_input(l) : gradient.rows;
    if (of_input.rows.cols > 0) of_input.self = of_input.rows.slice_rows(0, rows.destinations);
    if (layer(l).spec().tap >= 0)
      of_input.tap =
          (range.contains(layer(l).spec().tap) ? memory.d_tap() : gradient.tap).slice_rows(0, rows.outputs);
    if (l == tapped) axpby(ctx_, 1, memory.d_tap(), 1, d_out);
    backward_layer(l, pass, weights, memory, input, d_out, of_input, step);
    if (step != nullptr) step->layer_done(l);
    if (l > range.first) d_out = of_input.rows.slice_rows(0, memory.rows(l - 1).outputs);
  }
}

void LayerRunner::backward_layer(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                                 const RangeInput& input, MatrixView d_out, const LayerGradient& gradient,
                                 TrainingStep* step) const {
  if (!memory.keeps_saved(l)) {
    pass.repeat(true);
    forward(l, pass, weights, memory, input);
    pass.repeat(false);
  }
  pass.bind(l);
  tell(Work::kBackward, l);
  auto part_done = [&](int part) { step->part_done(l, part); };
  const FunctionRef<void(int)> tell_step(part_done);
  LayerWeights of_layer{weights, l};
  if (step != nullptr) of_layer.part_done = &tell_step;
  MatrixView out = memory.output(l);
  if (memory.keeps_outputs()) {
    out = ctx_.workspace->matrix("layer_runner.out", out.rows, out.cols);
    axpby(ctx_, 1, memory.output(l), 0, out);
  }
  layer(l).backward(pass, of_layer, input_of(l, memory, input), memory.saved(l), out, d_out, gradient);
}

}  // namespace atl
