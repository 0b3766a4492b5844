// Sancus' exchange: CAGNET's broadcasts, left out while a block has changed little (Peng et al. 2022).
#pragma once

#include "strategies/exchange/exchange.h"

namespace atl {

struct SancusOptions {
  enum class Rule {
    kFixed,   // by the epoch's number
    kBounded  // by the block's change and age
  } rule = Rule::kFixed;
  std::int64_t warmup = 50, every = 2;  // fixed: all epochs up to `warmup`, then one of `every`
  double threshold = 0.05;              // bounded: the largest relative change of a block that isn't sent …
  std::int64_t staleness = 4;           // … and the most epochs since it was sent last
  bool gradients_of_cached_rows = true;  // whether these are sent to their owners in every epoch
  Precision wire = Precision::kFloat32;
};
std::unique_ptr<Exchange> make_sancus_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               const OwnerBlocks& blocks,
                                               const std::vector<ExchangedLayer>& layers,
                                               const SancusOptions& options);

}  // namespace atl
