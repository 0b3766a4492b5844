// What stands in the way of a gang, in whole sentences that name nodes and say what would help.
#pragma once

#include <string>
#include <vector>

#include "operator/plan/room.h"

namespace atl::ctl {

/// Why there is no place for all: what is needed, what there is by domain, which nodes would have to be freed,
/// which nodes are not looked at and why.
std::vector<std::string> obstacles(const Gang& gang, const Room& room);

/// Why a placement costs more than the best possible: which of the best's nodes have no room.
std::vector<std::string> detours(const Gang& gang, const Room& room, const std::vector<std::string>& nodes,
                                 const std::vector<std::string>& ideal);

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& all);

/// "zone" of topology.kubernetes.io/zone; "node" of kubernetes.io/hostname.
std::string level_name(const std::string& label);

/// "4 servers of 2 ranks (8 cpu, 32.0 GiB memory each)"
std::string demand_text(const Gang& gang);

}  // namespace atl::ctl
