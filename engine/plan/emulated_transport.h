// A transport to ranks that don't exist, over links of a given rate: every group of messages is done when such links would have
// carried it, and brings zeros. One rank of many so runs by itself, in the time that it would take among the others if those were no
// slower than itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// Bytes a second, each way at once.
struct EmulatedLinks {
  double inter = 0;  // a rank's share of its server's link
  double intra = 0;  // to the ranks of its server
  /// Bulk of the server with most of it, over this rank's server's: an exchange ends when the last one's has come through.
  double busiest = 1;
};

/// `hosts`: by rank, as Transport::host(). What goes between servers takes the processor time of sending and receiving,
/// too (socket_work.h).
std::unique_ptr<Transport> make_emulated_transport(Rank rank, std::vector<std::string> hosts,
                                                   const EmulatedLinks& links);

}  // namespace atl
