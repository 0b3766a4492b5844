#include "strategies/gnnpipe/chunk_memories.h"

#include <algorithm>

namespace atl {

ChunkMemories::ChunkMemories(Context& ctx, const Model& model, const LayerRange& layers, Passes passes,
                             const GraphPart& part, StageRows& rows, const ChunkPass& pass,
                             std::size_t arriving)
    : layers_(layers), part_(part), rows_(rows) {
  if (layers.first == layers.end) return;
  const auto chunks = int(part.chunks.size());
  std::vector<std::vector<LayerRows>> of_chunks;
  Index most = 0;
  memories_.reserve(part.chunks.size());
  for (int c = 0; c < chunks; ++c) {
    PassMemory& memory = memories_.emplace_back(ctx.device, model, layers, passes);
    memory.share(backward_);
    std::vector<LayerRows>& each = of_chunks.emplace_back();
    for (int l = layers.first; l < layers.end; ++l) each.push_back(pass.rows_of(l, c));
    memory.make_room(each);
    most = std::max(most, each.back().outputs);
  }
  place_outputs();
  for (int c = 0; c < chunks; ++c) of(c).shape(of_chunks[std::size_t(c)]);
  if (passes == Passes::kInference) return;
  d_outputs_.resize(std::min(arriving, part.chunks.size()));
  const Index width = model.spec(layers.end - 1).out;
  for (Matrix& each : d_outputs_) each.resize(most, width, ctx.device);
}

void ChunkMemories::place_outputs() {
  for (std::size_t c = 0; c < memories_.size(); ++c) {
    const ChunkRows& chunk = part_.chunks[c];
    for (int l = layers_.first; l < layers_.end; ++l)
      memories_[c].place_output(l, rows_.present(l + 1).slice_rows(chunk.begin, chunk.rows()));
  }
}

void ChunkMemories::keep_outputs(bool on) {
  for (PassMemory& each : memories_) each.keep_outputs(on);
}

void ChunkMemories::place_gradients(std::span<const int> order) {
  for (std::size_t place = 0; place < order.size() && !empty(); ++place) {
    const int chunk = order[place];
    const Index rows = part_.chunks[std::size_t(chunk)].rows();
    of(chunk).place_d_output(d_outputs_[place % d_outputs_.size()].view().slice_rows(0, rows));
  }
}

void ChunkMemories::count(ScheduleBytes& bytes) const {
  for (const PassMemory& each : memories_) each.count(bytes);
  backward_.count(bytes);
  for (const Matrix& each : d_outputs_) bytes.gradients += each.held_bytes();
}

}  // namespace atl
