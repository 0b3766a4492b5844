// Which servers there are, which ranks are on them, and how fast what lies between: what a recording is
// replayed over. Read from a file (manifests/topologies/), which names its source. Rates are bytes a second
// of what ranks send, each way at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "tensor/rates.h"

namespace atl {

struct NetworkLink {
  double rate = 0;          // bytes a second
  double latency = 0;       // seconds
  double byte_seconds = 0;  // of a processor at each end, to send or to receive a byte
};

/// Two ranks of a server, by their places on it, that have a link of their own.
struct Bridge {
  int from = 0, to = 0;
};

struct ServerSpec {
  std::string name;
  std::vector<Rank> ranks;
  double rate = 0;  // of its link
};

struct Topology {
  std::string name, source;
  std::vector<ServerSpec> servers;
  double latency = 0;           // between servers
  NetworkLink inside;           // of each rank, to the other ranks of its server
  std::vector<Bridge> bridges;  // on each server …
  NetworkLink bridge;           // … of this rate
  int rack_servers = 0;         // servers of a rack; 0: no racks
  double rack_rate = 0;         // of a rack's link to the others
  double cores = 1;             // of each rank
  double byte_seconds = 0;      // as NetworkLink's, between servers …
  bool polls = true;  // a message that has come is seen when its receiver's progress thread looks next
  double message_seconds = 0;           // … and a message, wherever it goes
  double speed = 1;                     // of a core, times that of the one that recorded
  std::optional<MachineRates> rates{};  // of a rank's processor, in place of `speed`
  bool is_model = false;  // one of the two was given: times of computing are a model, not measured

  int ranks() const;
  /// (ranks)
  std::vector<int> server_of_rank() const;
  /// (ranks) the names of their servers.
  std::vector<std::string> hosts() const;
  /// Of the servers' links.
  double slowest_rate() const;
};

/// Throws Error naming file and line for what isn't a topology.
Topology read_topology(const std::filesystem::path& file);
Topology parse_topology(const std::string& text, const std::string& name);

/// Throws Error where a rank of the job is on no server, or one is that the job hasn't.
void check_ranks(const Topology& topology, int ranks);

}  // namespace atl
