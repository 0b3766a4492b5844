#include "strategies/gnnpipe/chunk_transfer.h"

#include <algorithm>

namespace atl {

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

/// Of a lane's slots (comm/transport.h) kAhead leave some for what is sent and exchanged.
void ChunkArrivals::wait(std::size_t place) {
  const std::size_t until = std::min(place + kAhead, by_place_.size());
  while (events_.size() < until) receive(events_.size());
  events_[place].wait();
  for (const MatrixView& each : by_place_[place].all()) wire_.of(purpose_).unpack(each);
}

void ChunkDepartures::make_room(Index rows, std::span<const Index> cols) {
  for (const Index each : cols) rooms_.emplace_back().resize(rows, wire_.copied_columns(each), ctx_.device);
}

void ChunkDepartures::send(Traffic purpose, const ChunkMatrices& leaving, Index first) {
  const std::span<const MatrixView> matrices = leaving.all();
  messages_.clear();
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const MatrixView room =
        i < rooms_.size() ? rooms_[i].view().slice_rows(first, matrices[i].rows) : MatrixView();
    messages_.push_back(wire_.of(purpose).pack_copy(matrices[i], room).message(to_));
  }
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

void ChunkDepartures::give(Traffic purpose, const ChunkMatrices& matrices) {
  messages_.clear();
  for (const MatrixView& each : matrices.all())
    messages_.push_back(wire_.of(purpose).pack(each).message(to_));
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

Index ChunkDepartures::bytes() const {
  Index sum = 0;
  for (const Matrix& each : rooms_) sum += each.held_bytes();
  return sum;
}

void ChunkDepartures::finish() {
  for (Event& each : events_) each.wait();
  events_.clear();
}

}  // namespace atl
