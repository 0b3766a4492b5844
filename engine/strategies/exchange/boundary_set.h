// Which boundary rows cross between ranks in an epoch, in which format, and the block that reads those that
// arrive: all of them here, a sample in bns.cc. When they are used is each exchange's own, so that whichever
// rows cross combine with any delay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/job.h"
#include "partition/local_graph.h"
#include "tensor/copies.h"

namespace atl {

/// What crosses to and from one peer, as kernels read it.
struct BoundaryRows {
  Rank peer;
  std::span<const VertexId> send;              // local owned rows; in the device's memory
  Index receive_begin = 0, receive_count = 0;  // among the rows that arrive
};

/// Where kernels of the copies' device read them.
inline BoundaryRows on_device(DeviceCopies& copies, const PeerRows& host) {
  return {host.peer, copies.of(std::span<const VertexId>(host.send)), host.receive_begin, host.receive_count};
}

/// One per exchange. An epoch's rows are the same for all its layers, and every epoch's are as many.
class BoundarySet {
 public:
  explicit BoundarySet(Precision wire) : wire_(wire) {}
  virtual ~BoundarySet() = default;
  /// How rows and their gradients are written while they travel, and only then.
  Precision wire() const { return wire_; }
  virtual Index sent() const = 0;      // rows a layer; a boundary row counts once for each rank that reads it
  virtual Index arriving() const = 0;  // rows a layer
  /// What goes to and comes from each peer in `epoch`. Valid until two more epochs were asked for.
  virtual std::span<const BoundaryRows> peers(std::int64_t epoch) = 0;
  /// Destinations: owned rows; sources: the rows that arrive in `epoch`. In the device's memory. Valid until
  /// another epoch's is asked for.
  virtual const Block& block(std::int64_t epoch) = 0;
  /// Bytes of this bookkeeping; the exchange holds the rows themselves.
  virtual Index bytes() const = 0;

 private:
  Precision wire_;
};

/// Every boundary row, every epoch.
class WholeBoundarySet final : public BoundarySet {
 public:
  /// `outer`: the part's block of halo rows, in the device's memory. All outlive it.
  WholeBoundarySet(Context& ctx, const LocalGraph& graph, const Block& outer,
                   Precision wire = Precision::kFloat32)
      : WholeBoundarySet(ctx, graph.peers, graph.halo, outer, wire) {}
  /// For layers that read only a part of the halo: `halo` rows, exchanged as `peers` says.
  WholeBoundarySet(Context& ctx, std::span<const PeerRows> peers, Index halo, const Block& outer,
                   Precision wire)
      : BoundarySet(wire), arriving_(halo), outer_(outer), copies_(ctx) {
    for (const PeerRows& each : peers) {
      peers_.push_back(on_device(copies_, each));
      sent_ += Index(each.send.size());
    }
  }
  Index sent() const override { return sent_; }
  Index arriving() const override { return arriving_; }
  std::span<const BoundaryRows> peers(std::int64_t) override { return peers_; }
  const Block& block(std::int64_t) override { return outer_; }
  Index bytes() const override { return copies_.bytes(); }

 private:
  Index arriving_, sent_ = 0;
  const Block& outer_;
  DeviceCopies copies_;
  std::vector<BoundaryRows> peers_;
};

/// bns.cc: boundary-node sampling (Wan et al. 2022, "BNS-GCN", section 3).
struct SampledBoundaryOptions {
  // of a pair's boundary rows, as sampled_rows() in job/strategies/boundary_rows.h rounds it
  double rate = 1;
  std::uint64_t seed = 1;  // of all draws
  bool attention = false;  // blocks' transposed arcs know their place
  Precision wire = Precision::kFloat32;
};
/// `outer` as above.
std::unique_ptr<BoundarySet> make_sampled_boundary_set(Context& ctx, const LocalGraph& graph,
                                                       const Block& outer,
                                                       const SampledBoundaryOptions& options);

}  // namespace atl
