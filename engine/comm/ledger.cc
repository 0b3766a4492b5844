#include "comm/ledger.h"

#include <numeric>

namespace atl {

const char* traffic_name(Traffic purpose) {
  switch (purpose) {
    case Traffic::kHalo:
      return "halo";
    case Traffic::kHaloGradient:
      return "halo_gradient";
    case Traffic::kGradient:
      return "gradient";
    case Traffic::kStatistics:
      return "statistics";
    case Traffic::kEvaluation:
      return "evaluation";
    case Traffic::kRecompute:
      return "recompute";
    case Traffic::kSetup:
      return "setup";
    case Traffic::kCheckpoint:
      return "checkpoint";
    case Traffic::kStructure:
      return "structure";
    case Traffic::kIds:
      return "ids";
    case Traffic::kFeatures:
      return "features";
    case Traffic::kStage:
      return "stage";
    case Traffic::kStageGradient:
      return "stage_gradient";
    case Traffic::kPartial:
      return "partial";
    case Traffic::kPartialGradient:
      return "partial_gradient";
    case Traffic::kPair:
      return "pair";
    case Traffic::kPairGradient:
      return "pair_gradient";
  }
  return "unknown";
}

const char* link_name(Link link) {
  return link == Link::kIntra ? "intra" : "inter";
}

void Ledger::sent(Link link, Traffic purpose, Rank peer, std::int64_t bytes) {
  bytes_[std::size_t(link)][std::size_t(purpose)] += bytes;
  by_peer_[std::size_t(peer)] += bytes;
}

void Ledger::add_exposed(Traffic purpose, double seconds) {
  exposed_[std::size_t(purpose)] += seconds;
}

std::int64_t Ledger::bytes(Link link) const {
  const auto& by_purpose = bytes_[std::size_t(link)];
  return std::accumulate(by_purpose.begin(), by_purpose.end(), std::int64_t(0));
}

}  // namespace atl
