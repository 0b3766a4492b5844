// Where every byte between ranks is written down once, by link class and purpose.
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
  kSetup,            // features of halo rows, send lists, checks: once
  kCheckpoint,       // gathering outputs and state
  kStructure,        // mini-batches: rows whose neighbours are requested, and the neighbours drawn …
  kIds,              // … ids and degrees of the rows of a batch …
  kFeatures,         // … and their features
  kStage,            // pipelines: outputs of a stage's layers for the next stage, forward …
  kStageGradient,    // … and its gradients, backward
  kPartial,          // features by columns: summands of the first layer's product, and scores, forward …
  kPartialGradient,  // … and gradients of the product, backward
  kPair,             // link prediction: which ends of pairs are requested, and their rows, forward …
  kPairGradient,     // … and the gradients of those rows, backward
};
inline constexpr int kTraffics = 17;
const char* traffic_name(Traffic purpose);
const char* link_name(Link link);

/// Bytes sent by this rank, and seconds in which its compute thread waited (`exposed`). The compute thread
/// reads it between operations.
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
