// What a stage of a pipeline keeps and sends chunk by chunk: the memory of its passes, and the matrices that
// travel between stages.
#include <algorithm>
#include <utility>

#include "strategies/gnnpipe/pipeline.h"

namespace atl {

ChunkMemories::ChunkMemories(Context& ctx, const Model& model, const LayerRange& layers, Passes passes,
                             std::span<const ChunkRows> chunks, StageRows& rows, const ChunkPass& pass,
                             std::size_t arriving)
    : layers_(layers), chunks_(chunks), rows_(rows) {
  if (layers.first == layers.end) return;
  std::vector<std::vector<LayerRows>> of_chunks;
  Index most = 0;
  memories_.reserve(chunks.size());
  for (int c = 0; c < int(chunks.size()); ++c) {
    PassMemory& memory = memories_.emplace_back(ctx.device, model, layers, passes);
    memory.share(backward_);
    std::vector<LayerRows>& each = of_chunks.emplace_back();
    for (int l = layers.first; l < layers.end; ++l) each.push_back(pass.rows_of(l, c));
    memory.make_room(each);
    most = std::max(most, each.back().outputs);
  }
  place_outputs();
  for (int c = 0; c < int(chunks.size()); ++c) of(c).shape(of_chunks[std::size_t(c)]);
  if (passes == Passes::kInference) return;
  d_outputs_.resize(std::min(arriving, chunks.size()));
  const Index width = model.spec(layers.end - 1).out;
  for (Matrix& each : d_outputs_) each.resize(most, width, ctx.device);
}

void ChunkMemories::place_outputs() {
  for (std::size_t c = 0; c < memories_.size(); ++c) {
    const ChunkRows& chunk = chunks_[c];
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
    const Index rows = chunks_[std::size_t(chunk)].rows();
    of(chunk).place_d_output(d_outputs_[place % d_outputs_.size()].view().slice_rows(0, rows));
  }
}

void ChunkMemories::count(ScheduleBytes& bytes) const {
  for (const PassMemory& each : memories_) each.count(bytes);
  backward_.count(bytes);
  for (const Matrix& each : d_outputs_) bytes.gradients += each.held_bytes();
}

void ChunkArrivals::begin(Traffic purpose) {
  by_place_.clear();
  purpose_ = purpose;
  events_.clear();
}

void ChunkArrivals::receive(std::size_t place) {
  messages_.clear();
  for (const MatrixView& each : by_place_[place].all())
    messages_.push_back(wire_.of(purpose_).packed(each).message(from_));
  events_.push_back(comm_.exchange(Lane::kBulk, purpose_, {}, messages_, ctx_.stream));
}

/// kAhead is below the number of a lane's slots (comm/transports.h), which leaves some for sends and
/// exchanges.
void ChunkArrivals::wait(std::size_t place) {
  const std::size_t until = std::min(place + kAhead, by_place_.size());
  while (events_.size() < until) receive(events_.size());
  events_[place].wait();
  for (const MatrixView& each : by_place_[place].all()) wire_.of(purpose_).unpack(each);
}

void ChunkDepartures::make_staging(Index rows, std::span<const Index> cols) {
  for (const Index each : cols) staging_.emplace_back().resize(rows, wire_.copied_columns(each), ctx_.device);
}

void ChunkDepartures::send(Traffic purpose, const ChunkMatrices& leaving, Index first) {
  const std::span<const MatrixView> matrices = leaving.all();
  messages_.clear();
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const MatrixView staging =
        i < staging_.size() ? staging_[i].view().slice_rows(first, matrices[i].rows) : MatrixView();
    messages_.push_back(wire_.of(purpose).pack_copy(matrices[i], staging).message(to_));
  }
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

void ChunkDepartures::send_in_place(Traffic purpose, const ChunkMatrices& matrices) {
  messages_.clear();
  for (const MatrixView& each : matrices.all())
    messages_.push_back(wire_.of(purpose).pack(each).message(to_));
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

Index ChunkDepartures::bytes() const {
  Index sum = 0;
  for (const Matrix& each : staging_) sum += each.held_bytes();
  return sum;
}

void ChunkDepartures::finish() {
  for (Event& each : events_) each.wait();
  events_.clear();
}

}  // namespace atl
