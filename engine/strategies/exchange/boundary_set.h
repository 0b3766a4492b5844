// Which boundary rows travel between ranks in an epoch and in which format, and the block that reads those
// that arrive. WholeBoundarySet sends all rows, the set of sampled_boundary_set.cc a sample. Each exchange
// decides when rows are used, so that any set combines with any delay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "job/job.h"
#include "partition/local_graph.h"
#include "tensor/copies.h"

namespace atl {

/// The rows that travel to and from one peer, as kernels read them.
struct BoundaryRows {
  Rank peer;
  std::span<const VertexId> send;              // local owned rows; in the device's memory
  Index receive_begin = 0, receive_count = 0;  // among the rows that arrive
};

/// Copies the row numbers to where kernels of the device of `copies` read them.
inline BoundaryRows on_device(DeviceCopies& copies, const PeerRows& host) {
  return {host.peer, copies.of(std::span<const VertexId>(host.send)), host.receive_begin, host.receive_count};
}

/// One per exchange. All layers of an epoch use the same rows, and all epochs have equally many.
class BoundarySet {
 public:
  explicit BoundarySet(Precision wire) : wire_(wire) {}
  virtual ~BoundarySet() = default;
  /// How rows and their gradients are written while they travel.
  Precision wire() const { return wire_; }
  virtual Index sent() const = 0;  // rows per layer; a boundary row counts once for each rank that reads it
  virtual Index arriving() const = 0;  // rows per layer
  /// The rows to and from each peer in `epoch`. Valid until rows of two more epochs were asked for.
  virtual std::span<const BoundaryRows> peers(std::int64_t epoch) = 0;
  /// Destinations: owned rows; sources: the rows that arrive in `epoch`. In the device's memory. Valid until
  /// the block of another epoch is asked for.
  virtual const Block& block(std::int64_t epoch) = 0;
  /// Bytes of this bookkeeping; the exchange holds the rows themselves.
  virtual Index bytes() const = 0;

 private:
  Precision wire_;
};

/// All boundary rows, in every epoch.
class WholeBoundarySet final : public BoundarySet {
 public:
  /// `outer`: the part's block of halo rows, in the device's memory. All arguments must outlive it.
  WholeBoundarySet(Context& ctx, const LocalGraph& graph, const Block& outer,
                   Precision wire = Precision::kFloat32)
      : WholeBoundarySet(ctx, graph.peers, graph.halo, outer, wire) {}
  /// For layers that read only some of the halo: `halo` rows, which are exchanged as `peers` says.
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

/// sampled_boundary_set.cc: boundary-node sampling (Wan et al. 2022, "BNS-GCN", section 3).
struct SampledBoundaryOptions {
  // share of a pair's boundary rows, rounded as sampled_rows() in job/strategies/boundary_rows.h does
  double rate = 1;
  std::uint64_t seed = 1;  // of all draws
  bool attention = false;  // whether blocks have transpose_arc, which attention needs
  Precision wire = Precision::kFloat32;
};
/// `outer`: as for WholeBoundarySet.
std::unique_ptr<BoundarySet> make_sampled_boundary_set(Context& ctx, const LocalGraph& graph,
                                                       const Block& outer,
                                                       const SampledBoundaryOptions& options);

}  // namespace atl
