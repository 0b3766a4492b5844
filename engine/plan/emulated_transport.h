// A transport to ranks that don't exist, over links of a given rate: every group of messages is done when such links would have
// carried it, and brings zeros. One rank of many so runs by itself, in the time that it would take among the others if those were no
// slower than itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// Bulk of the server that others wait for, over this rank's server's: an exchange ends when the last one's has come through. By
/// the way of the link that has more to carry in this exchange, and by the other one.
struct Busiest {
  double heavier = 1, lighter = 1;
};

/// Bytes a second, each way at once.
struct EmulatedLinks {
  double inter = 0;  // a rank's share of its server's link
  double intra = 0;  // to the ranks of its server
  Busiest busiest{};
  double work =
      0;  // processor seconds a byte, to send and to receive between servers; 0: what a connection of this process takes
};

/// `hosts`: by rank, as Transport::host(). What goes between servers takes the processor time of sending and receiving,
/// too (socket_work.h).
std::unique_ptr<Transport> make_emulated_transport(Rank rank, std::vector<std::string> hosts,
                                                   const EmulatedLinks& links);

}  // namespace atl
