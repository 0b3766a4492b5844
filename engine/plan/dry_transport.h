// A transport to ranks that don't exist: every message is done at once and moves nothing, so that a schedule
// runs one rank of many by itself and its ledger says what it would have sent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// hosts: by rank, so that the ledger tells servers apart.
std::unique_ptr<Transport> make_dry_transport(Rank rank, std::vector<std::string> hosts);

}  // namespace atl
