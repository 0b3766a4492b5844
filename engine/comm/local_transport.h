// Ranks as threads of one process: what tests run on, and a job of one rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// Transports of `ranks` ranks that reach each other, one for each rank's thread. `hosts` names each rank's
/// server (default: all "localhost"), so that a test can have links between servers. A send is done when its
/// receiver has copied it. A rank whose transport closes or dies makes every other rank's outstanding message
/// with it fail.
std::vector<std::unique_ptr<Transport>> make_local_group(int ranks, std::vector<std::string> hosts = {});

}  // namespace atl
