#include "strategy/activations.h"

#include <algorithm>
#include <map>

namespace atl {

Activations::Activations(Device device, const Model& model, int first, Index owned,
                         const std::vector<Index>& source_rows, Passes passes)
    : device_(device), model_(model), owned_(owned), passes_(passes) {
  for (const auto& each : model.layers) {
    if (each->tap() >= 0) tapped_ = each->tap();
  }
  allocate_outputs(first);
  allocate_saved(source_rows);
  if (passes != Passes::kInference) allocate_gradients(first);
}

/// In inference even and odd layers share, but for the tap and the last.
void Activations::allocate_outputs(int first) {
  std::map<std::string, Matrix*> turns;
  for (int l = 0; l < layers(); ++l) {
    const bool own = passes_ != Passes::kInference || l == tapped_ || l + 1 == layers();
    Matrix*& output = turns[own ? fmt::format("layer {}", l) : fmt::format("turn {}", l % 2)];
    if (output == nullptr) output = buffers_.emplace_back(std::make_unique<Matrix>()).get();
    if (l >= first) output->resize(owned_, std::max(output->cols(), layer(l).out()), device_);
    outputs_.push_back(output);
  }
}

/// What a layer saves is alive from its forward to its backward. Where backward repeats the forward just before, or
/// never comes, that is one layer at a time: all share the memory of the largest.
void Activations::allocate_saved(const std::vector<Index>& source_rows) {
  const bool one_at_a_time = passes_ != Passes::kTraining;
  saved_.resize(model_.layers.size());
  saved_memory_.resize(one_at_a_time ? 1 : saved_.size());
  const auto memory_of = [&](int l) -> Matrix& { return saved_memory_[one_at_a_time ? 0 : std::size_t(l)]; };
  for (int l = 0; l < layers(); ++l) {
    const Index elements = Saved::elements(layer(l).saved(), owned_, source_rows);
    memory_of(l).resize(1, std::max(memory_of(l).cols(), elements), device_);
  }
  for (int l = 0; l < layers(); ++l)
    saved(l).place(layer(l).saved(), owned_, source_rows, memory_of(l).data());
}

/// The first layer's input is fixed and takes no gradient.
void Activations::allocate_gradients(int first) {
  d_logits_.resize(owned_, model_.layers.back()->out(), device_);
  for (int l = layers() - 1; l > first; --l) {
    Matrix& rows = d_rows_[gradient_turn(l)];
    rows.resize(owned_, std::max(rows.cols(), layer(l).in()), device_);
  }
  if (tapped_ >= 0) d_tap_.resize(owned_, layer(tapped_).out(), device_);
}

/// Which of the two gradient buffers takes the gradient of layer l's input: the other one than its output's, unless
/// the layer works in place.
int Activations::gradient_turn(int layer) const {
  int turn = 0;
  for (int l = layers() - 2; l >= layer; --l)
    turn ^= model_.layers[std::size_t(l)]->in_place_backward() ? 0 : 1;
  return turn;
}

MatrixView Activations::output(int l) const {
  return {outputs_[std::size_t(l)]->data(), owned_, layer(l).out()};
}

MatrixView Activations::d_input(int l) {
  return {d_rows_[gradient_turn(l)].data(), owned_, layer(l).in()};
}

void Activations::count(ScheduleBytes& b) const {
  for (const auto& output : buffers_) b.activations += output->held_bytes();
  for (const Matrix& memory : saved_memory_) b.saved += memory.held_bytes();
  b.gradients +=
      d_rows_[0].held_bytes() + d_rows_[1].held_bytes() + d_tap_.held_bytes() + d_logits_.held_bytes();
}

}  // namespace atl
