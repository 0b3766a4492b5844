// Which boundary rows of one chunk cross between the ranks of a stage: those of a rank's slice that others read in any chunk, once a
// layer and pass.
#pragma once

#include "strategies/exchange/crossing.h"

namespace atl {

class ChunkCrossing final : public Crossing {
 public:
  ChunkCrossing(Context& ctx, const LocalGraph& graph, const Block& outer, std::size_t chunk, Precision wire)
      : Crossing(wire), outer_(&outer), copies_(ctx) {
    for (const PeerRows& each : graph.peers) {
      const Index first = each.send_slices[chunk], end = each.send_slices[chunk + 1];
      const Index received = each.receive_slices[chunk], until = each.receive_slices[chunk + 1];
      const auto send = std::span(each.send).subspan(std::size_t(first), std::size_t(end - first));
      if (send.empty() && received == until) continue;
      peers_.push_back({each.peer, copies_.of(std::span<const VertexId>(send)), each.receive_begin + received,
                        until - received});
      sent_ += Index(send.size());
      arriving_ += until - received;
    }
  }
  Index sent() const override { return sent_; }
  Index arriving() const override { return arriving_; }
  std::span<const CrossingRows> peers(std::int64_t) override { return peers_; }
  const Block& block(std::int64_t) override { return *outer_; }
  Index bytes() const override { return copies_.bytes(); }

 private:
  Index sent_ = 0, arriving_ = 0;
  const Block* outer_;
  DeviceCopies copies_;
  std::vector<CrossingRows> peers_;
};

}  // namespace atl
