// Where each rank should run, as the launcher tells each rank. A rank that finds itself elsewhere says so
// before it trains, because then neither the plan's costs nor its guarantees hold.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// A pod (its host name), the ranks in it, and the node that it runs on ("": unknown, and ranks of other pods
/// don't count as beside it).
struct Place {
  std::string host;
  std::vector<Rank> ranks;
  std::string node;
};

/// The places as text: "cora-0-0@node1:0,1;cora-1-0@node1:2,3".
std::string places_text(std::span<const Place> places);

/// The ranks that `text` puts on the same host as `rank`, including `rank`. Throws Error if `text` doesn't
/// contain `rank`.
std::vector<Rank> ranks_beside(const std::string& text, Rank rank);

/// The number of ranks that `text` puts on the same node as `rank`, in any pod. Throws Error if `text`
/// doesn't contain `rank`.
int ranks_on_node(const std::string& text, Rank rank);

/// Throws Error, naming both hosts, unless `text` puts `rank` on `host`.
void check_place(const std::string& text, Rank rank, const std::string& host);

// Waits until every host of a job answers, since a name service, a network or sshd may lag behind a pod that
// is Ready.

struct HostPort {
  std::string name;     // for messages: "cora-0-0"
  std::string address;  // numeric: "10.1.0.5", "fd00::5"
  int port = 0;
};

/// Returns once each host has accepted a connection. Throws Error after `patience`, naming the hosts that
/// haven't and why. Throws at once if an address is invalid.
void wait_until_reachable(const std::vector<HostPort>& hosts, std::chrono::milliseconds patience);

}  // namespace atl
