#include "strategy/pipeline/chunk_transfer.h"

#include <algorithm>

namespace atl {

void ChunkArrivals::begin(std::vector<ChunkMatrices> by_place, Traffic purpose) {
  by_place_ = std::move(by_place);
  purpose_ = purpose;
  events_.clear();
}

void ChunkArrivals::receive(std::size_t place) {
  rows_.clear();
  for (const MatrixView& each : by_place_[place]) rows_.push_back({from_, each});
  events_.push_back(comm_.exchange(Lane::kBulk, purpose_, {}, rows_, ctx_.stream));
}

/// Of a lane's slots (comm/transport.h) kAhead leave some for what is sent and exchanged.
void ChunkArrivals::wait(std::size_t place) {
  const std::size_t until = std::min(place + kAhead, by_place_.size());
  while (events_.size() < until) receive(events_.size());
  events_[place].wait();
}

void ChunkDepartures::send(Traffic purpose, std::span<const MatrixView> matrices) {
  rows_.clear();
  for (const MatrixView& each : matrices) rows_.push_back({to_, each});
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, rows_, {}, ctx_.stream));
}

void ChunkDepartures::finish() {
  for (Event& each : events_) each.wait();
  events_.clear();
}

}  // namespace atl
