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
  }
  return "unknown";
}

const char* link_name(Link link) {
  return link == Link::kIntra ? "intra" : "inter";
}

void Ledger::sent(Link link, Traffic purpose, Rank peer, std::int64_t bytes) {
  Flow& flow = flows_[std::size_t(link)][std::size_t(purpose)];
  flow.bytes += bytes;
  ++flow.messages;
  by_peer_[std::size_t(peer)] += bytes;
}

void Ledger::add_seconds(Traffic purpose, double busy, double exposed) {
  busy_[std::size_t(purpose)] += busy;
  exposed_[std::size_t(purpose)] += exposed;
}

std::int64_t Ledger::bytes(Link link) const {
  const auto& flows = flows_[std::size_t(link)];
  return std::accumulate(flows.begin(), flows.end(), std::int64_t(0),
                         [](std::int64_t sum, const Flow& flow) { return sum + flow.bytes; });
}

}  // namespace atl
