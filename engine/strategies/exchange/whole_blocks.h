// CAGNET's exchange: every rank's whole block goes to all others, owner by owner.
#pragma once

#include "strategies/exchange/exchange.h"

namespace atl {

/// (Tripathy et al. 2020, section IV: 1D and, with a replication above 1, 1.5D).
std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               std::vector<ExchangedLayer> layers, int replication,
                                               Precision wire = Precision::kFloat32);

}  // namespace atl
