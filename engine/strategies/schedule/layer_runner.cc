#include "strategies/schedule/layer_runner.h"

#include <algorithm>

namespace atl {

void LayerRunner::enter(Work work, int l) const {
  if (trace_ != nullptr) trace_->enter(work, l);
}

/// Destinations are the first rows of a layer's input, and of every input below it.
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

/// The boundary rows that the layer below has kept (LayerSpec::boundary). They must leave before layer l
/// saves anything, because what l saves may overwrite them.
ConstMatrixView LayerRunner::sent_of(int l, const Pass& pass, PassMemory& memory) const {
  const int place = l > memory.layers().first ? layer(l - 1).spec().boundary : -1;
  if (place < 0 || !pass.state().training) return {};
  return memory.saved(l - 1).at(place);
}

void LayerRunner::forward(Pass& pass, const WeightVersion& weights, PassMemory& memory,
                          const RangeInput& input) const {
  for (int l = memory.layers().first; l < memory.layers().end; ++l) forward(l, pass, weights, memory, input);
}

void LayerRunner::forward(int l, Pass& pass, const WeightVersion& weights, PassMemory& memory,
                          const RangeInput& input) const {
  enter(pass.state().repeating  ? Work::kRecompute
        : pass.state().training ? Work::kForward
                                : Work::kEvaluation,
        l);
  pass.bind(l);
  pass.send(sent_of(l, pass, memory));
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
  enter(Work::kBackward, l);
  auto part_done = [&](int part) { step->part_done(l, part); };
  const FunctionRef<void(int)> on_part_done(part_done);
  LayerWeights of_layer{weights, l};
  if (step != nullptr) of_layer.part_done = &on_part_done;
  static constexpr ScratchKey kOut;
  MatrixView out = memory.output(l);
  if (memory.keeps_outputs()) {
    out = ctx_.workspace->matrix(kOut, out.rows, out.cols);
    axpby(ctx_, 1, memory.output(l), 0, out);
  }
  layer(l).backward(pass, of_layer, input_of(l, memory, input), memory.saved(l), out, d_out, gradient);
}

PassMemory::PassMemory(Device device, const Model& model, LayerRange layers, Passes passes, bool varies)
    : device_(device),
      model_(model),
      layers_(layers),
      passes_(passes),
      values_(model.values),
      varies_(varies) {
  const auto count = std::size_t(layers.end - layers.first);
  for (const auto& each : model.layers)
    if (layers.contains(each->spec().tap)) tapped_ = each->spec().tap;
  saved_.resize(count);
  if (passes == Passes::kTraining) saved_memory_.resize(count);
  for (int l = layers.first; l < layers.end; ++l)
    outputs_.resize(std::max(outputs_.size(), output_buffer(l) + 1));
}

/// In inference even layers share one buffer and odd ones another, except the tapped and the last layer.
std::size_t PassMemory::output_buffer(int l) const {
  if (passes_ != Passes::kInference) return at(l);
  if (l + 1 == layers_.end) return 2;
  return l == tapped_ ? 3 : std::size_t(l % 2);
}

void PassMemory::grow(Matrix& memory, Index elements) {
  if (memory.grow(1, elements, device_, varies_)) ++reallocations_;
}

/// What a layer saves lives from its forward to its backward. If backward repeats each layer's forward just
/// before, or there is no backward, only one layer's saved matrices live at a time. All layers then share
/// memory of the largest size.
void PassMemory::shape(const std::vector<LayerRows>& rows) {
  ATOLL_CHECK(int(rows.size()) == layers_.end - layers_.first, "rows of {} layers for {}", rows.size(),
              layers_.end - layers_.first);
  rows_ = rows;
  std::vector<Index> outputs(outputs_.size(), 0);
  for (int l = layers_.first; l < layers_.end; ++l) {
    Index& output = outputs[output_buffer(l)];
    if (placed_.empty())
      output = std::max(output, reals_of(input_rows(l + 1) * layer(l).spec().out, stored(l)));
    if (passes_ == Passes::kTraining)
      grow(saved_memory_[at(l)], Saved::reals(layer(l).spec().saved, rows_[at(l)], values_));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) grow(outputs_[i], outputs[i]);
  if (shared_ == nullptr) grow_backward(rows_);
  for (int l = layers_.first; l < layers_.end; ++l)
    saved_[at(l)].place(layer(l).spec().saved, rows_[at(l)], values_, saved_memory(l).data());
  if (passes_ == Passes::kInference || shared_ != nullptr) return;
  const int last = layers_.end - 1;
  d_output_ = {own_.d_output.data(), rows_.back().outputs, layer(last).spec().out, stored(last)};
}

void PassMemory::make_room(const std::vector<LayerRows>& rows) {
  ATOLL_CHECK(shared_ != nullptr, "room is made in memory that isn't shared");
  grow_backward(rows);
}

/// Makes room for saved matrices and for the gradients between layers. The caller has the memory for the
/// gradient of the first layer's input. If backward's memory is shared, the caller also has the memory for
/// the gradient of the last layer's output.
void PassMemory::grow_backward(const std::vector<LayerRows>& rows) {
  BackwardMemory& memory = backward();
  Index turns[2] = {0, 0}, saved = 0;
  for (int l = layers_.first; l < layers_.end; ++l) {
    const LayerRows& of = rows[at(l)];
    saved = std::max(saved, Saved::reals(layer(l).spec().saved, of, values_));
    if (l == layers_.first) continue;
    Index& turn = turns[gradient_turn(l)];
    turn = std::max(turn, reals_of(of.inputs * layer(l).spec().in, stored(l - 1)));
  }
  if (passes_ != Passes::kTraining) grow(memory.saved, saved);
  if (passes_ == Passes::kInference) return;
  for (std::size_t i = 0; i < 2; ++i) grow(memory.d_rows[i], turns[i]);
  const int last = layers_.end - 1;
  if (shared_ == nullptr)
    grow(memory.d_output, reals_of(rows.back().outputs * layer(last).spec().out, stored(last)));
  if (tapped_ >= 0) grow(memory.d_tap, rows[at(tapped_)].outputs * layer(tapped_).spec().out);
}

/// Which of the two gradient buffers takes the gradient of layer l's input: not the one with its output's
/// gradient, unless the layer works in place.
std::size_t PassMemory::gradient_turn(int l) const {
  std::size_t turn = 0;
  for (int above = layers_.end - 2; above >= l; --above)
    turn ^= layer(above).spec().in_place_backward ? 0u : 1u;
  return turn;
}

MatrixView PassMemory::output(int l) {
  if (!placed_.empty()) return placed_[at(l)];
  return {outputs_[output_buffer(l)].data(), rows(l).outputs, layer(l).spec().out, stored(l)};
}

/// How many rows the memory for layer l's input has: l may read more than the layer below has written.
Index PassMemory::input_rows(int l) const {
  const Index written = rows_[at(l - 1)].outputs;
  return placed_.empty() && l < layers_.end ? std::max(written, rows_[at(l)].inputs) : written;
}

MatrixView PassMemory::input(int l) {
  MatrixView below = output(l - 1);
  below.rows = input_rows(l);
  return below;
}

MatrixView PassMemory::d_input(int l) {
  return {backward().d_rows[gradient_turn(l)].data(), rows(l).inputs, layer(l).spec().in, stored(l - 1)};
}

MatrixView PassMemory::d_tap() {
  return {backward().d_tap.data(), rows(tapped_).outputs, layer(tapped_).spec().out};
}

void PassMemory::count(ScheduleBytes& b) const {
  for (const Matrix& output : outputs_) b.activations += output.held_bytes();
  for (const Matrix& memory : saved_memory_) b.saved += memory.held_bytes();
  if (shared_ == nullptr) own_.count(b);
}

void BackwardMemory::count(ScheduleBytes& b) const {
  b.saved += saved.held_bytes();
  b.gradients += d_rows[0].held_bytes() + d_rows[1].held_bytes() + d_tap.held_bytes() + d_output.held_bytes();
}

}  // namespace atl
