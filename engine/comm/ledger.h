// The ledger, in which every byte between ranks is booked once, by link class and purpose.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

enum class Link { kIntra = 0, kInter = 1 };  // within a server, between servers
inline constexpr int kLinks = 2;

/// The purpose of bytes. Names as printed are in traffic_name().
enum class Traffic {
  kHalo,             // layer inputs of boundary rows, forward
  kHaloGradient,     // gradients of halo rows, backward
  kGradient,         // weight gradients
  kStatistics,       // column statistics of norms, loss, metrics
  kEvaluation,       // halo rows of an evaluation pass
  kRecompute,        // halo rows fetched again for recompute: layer
  kSetup,            // at set-up: features of halo rows, send lists, checks
  kCheckpoint,       // gathering outputs and state
  kStructure,        // mini-batches: requests for rows' neighbours, and the drawn neighbours
  kIds,              // mini-batches: ids and degrees of a batch's rows
  kFeatures,         // mini-batches: features of a batch's rows
  kStage,            // pipelines: outputs of a stage's layers for the next stage, forward
  kStageGradient,    // pipelines: gradients of these outputs, backward
  kPartial,          // features by columns: summands of the first layer's product, and scores, forward
  kPartialGradient,  // features by columns: gradients of the product, backward
  kPair,             // link prediction: requests for ends of pairs, and their rows, forward
  kPairGradient,     // link prediction: gradients of these rows, backward
};
inline constexpr int kTraffics = 17;
const char* traffic_name(Traffic purpose);
const char* link_name(Link link);

/// Bytes sent by this rank, and seconds in which its compute thread waited (`exposed`). The compute thread
/// may read the ledger between operations.
class Ledger {
 public:
  explicit Ledger(int ranks = 0) : by_peer_(std::size_t(ranks), 0) {}
  void sent(Link link, Traffic purpose, Rank peer, std::int64_t bytes);
  void add_exposed(Traffic purpose, double seconds);

  std::int64_t bytes(Link link, Traffic purpose) const {
    return bytes_[std::size_t(link)][std::size_t(purpose)];
  }
  std::int64_t bytes(Link link) const;
  std::int64_t bytes_to(Rank peer) const { return by_peer_[std::size_t(peer)]; }
  double exposed_seconds(Traffic purpose) const { return exposed_[std::size_t(purpose)]; }

 private:
  std::array<std::array<std::int64_t, kTraffics>, kLinks> bytes_{};
  std::array<double, kTraffics> exposed_{};
  std::vector<std::int64_t> by_peer_;
};

}  // namespace atl
