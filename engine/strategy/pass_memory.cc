#include "strategy/pass_memory.h"

#include <algorithm>

namespace atl {

PassMemory::PassMemory(Device device, const Model& model, LayerRange layers, Passes passes, bool varies)
    : device_(device), model_(model), layers_(layers), passes_(passes), varies_(varies) {
  const auto count = std::size_t(layers.end - layers.first);
  for (const auto& each : model.layers)
    if (layers.contains(each->tap())) tapped_ = each->tap();
  saved_.resize(count);
  saved_memory_.resize(passes == Passes::kTraining ? count : 1);
  for (int l = layers.first; l < layers.end; ++l)
    outputs_.resize(std::max(outputs_.size(), output_buffer(l) + 1));
}

/// In inference even and odd layers share, but for the tap and the last.
std::size_t PassMemory::output_buffer(int l) const {
  if (passes_ != Passes::kInference) return at(l);
  if (l + 1 == layers_.end) return 2;
  return l == tapped_ ? 3 : std::size_t(l % 2);
}

void PassMemory::grow(Matrix& memory, Index elements) {
  if (memory.grow(1, elements, device_, varies_)) ++growths_;
}

/// What a layer saves is alive from its forward to its backward. Where backward repeats the forward just before, or
/// never comes, that is one layer at a time: all share the memory of the largest. The first layer's input gradient is the caller's.
void PassMemory::shape(const std::vector<LayerRows>& rows) {
  ATOLL_CHECK(int(rows.size()) == layers_.end - layers_.first, "rows of {} layers for {}", rows.size(),
              layers_.end - layers_.first);
  rows_ = rows;
  std::vector<Index> outputs(outputs_.size(), 0), saved(saved_memory_.size(), 0);
  Index turns[2] = {0, 0};
  for (int l = layers_.first; l < layers_.end; ++l) {
    const LayerRows& of = rows_[at(l)];
    Index& output = outputs[output_buffer(l)];
    if (placed_.empty()) output = std::max(output, of.outputs * layer(l).out());
    Index& kept = saved[std::min(at(l), saved.size() - 1)];
    kept = std::max(kept, Saved::elements(layer(l).saved(), of));
    if (l > layers_.first) {
      Index& turn = turns[gradient_turn(l)];
      turn = std::max({turn, of.inputs * layer(l).in()});
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) grow(outputs_[i], outputs[i]);
  for (std::size_t i = 0; i < saved.size(); ++i) grow(saved_memory_[i], saved[i]);
  for (int l = layers_.first; l < layers_.end; ++l)
    saved_[at(l)].place(layer(l).saved(), rows_[at(l)],
                        saved_memory_[std::min(at(l), saved.size() - 1)].data());
  if (passes_ == Passes::kInference) return;
  for (std::size_t i = 0; i < 2; ++i) grow(d_rows_[i], turns[i]);
  const LayerRows& last = rows_.back();
  grow(d_output_memory_, last.outputs * layer(layers_.end - 1).out());
  d_output_ = {d_output_memory_.data(), last.outputs, layer(layers_.end - 1).out()};
  if (tapped_ < 0) return;
  const Index tapped = rows_[at(tapped_)].outputs, width = layer(tapped_).out();
  grow(d_tap_memory_, tapped * width);
  d_tap_ = {d_tap_memory_.data(), tapped, width};
}

/// Which of the two gradient buffers takes the gradient of layer l's input: the other one than its output's, unless
/// the layer works in place.
std::size_t PassMemory::gradient_turn(int l) const {
  std::size_t turn = 0;
  for (int above = layers_.end - 2; above >= l; --above) turn ^= layer(above).in_place_backward() ? 0u : 1u;
  return turn;
}

MatrixView PassMemory::output(int l) {
  if (!placed_.empty()) return placed_[at(l)];
  return {outputs_[output_buffer(l)].data(), rows(l).outputs, layer(l).out()};
}

MatrixView PassMemory::d_input(int l) {
  return {d_rows_[gradient_turn(l)].data(), rows(l).inputs, layer(l).in()};
}

void PassMemory::count(ScheduleBytes& b) const {
  for (const Matrix& output : outputs_) b.activations += output.held_bytes();
  for (const Matrix& memory : saved_memory_) b.saved += memory.held_bytes();
  b.gradients += d_rows_[0].held_bytes() + d_rows_[1].held_bytes() + d_tap_memory_.held_bytes() +
                 d_output_memory_.held_bytes();
}

}  // namespace atl
