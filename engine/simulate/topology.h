// Servers, the ranks on them, and the links between them, over which a recording is replayed. A topology is
// read from a file (manifests/topologies/), which names its source. Rates are bytes per second that ranks
// send, each way at once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "job/layout.h"
#include "job/yaml.h"
#include "tensor/rates.h"

namespace atl {

struct NetworkLink {
  double rate = 0;          // bytes per second
  double latency = 0;       // seconds
  double byte_seconds = 0;  // processor seconds at each end, per byte sent or received
};

/// A direct link between two ranks of a server. `from` and `to` are the ranks' places on the server.
struct Bridge {
  int from = 0, to = 0;
};

struct ServerSpec {
  std::string name;
  std::vector<Rank> ranks;
  double rate = 0;  // rate of the server's link
};

struct Topology {
  std::string name, source;
  std::vector<ServerSpec> servers;
  double latency = 0;           // between servers
  NetworkLink inside;           // link of each rank to other ranks of its server
  std::vector<Bridge> bridges;  // direct links on each server
  NetworkLink bridge;           // the link of each bridge
  int rack_servers = 0;         // servers of a rack; 0: no racks
  double rack_rate = 0;         // rate of a rack's link to other racks
  double cores = 1;             // cores of each rank
  double byte_seconds = 0;      // as NetworkLink::byte_seconds, for messages between servers
  bool polls = true;  // a message that has arrived is seen at the next look of its receiver's progress thread
  double message_seconds = 0;           // processor time per message, inside a server or between
  double speed = 1;                     // speed of a core, relative to the recording machine's
  std::optional<MachineRates> rates{};  // rates of a rank's processor, instead of `speed`
  bool is_model = false;  // `speed` or `rates` was given: times of computing are a model, not measured

  int ranks() const;
  /// (ranks) the server of each.
  std::vector<int> server_of_rank() const;
  /// (ranks) the name of each rank's server.
  std::vector<std::string> hosts() const;
  /// The lowest rate of the servers' links.
  double slowest_rate() const;
};

/// Throws Error, which names file and line, where the text isn't a topology.
Topology read_topology(const std::filesystem::path& file);
Topology parse_topology(const std::string& text, const std::string& name);

/// Throws Error where a rank of the job is on no server, or a server has a rank that the job hasn't.
void check_ranks(const Topology& topology, int ranks);

// Readers of a topology file's fields. All throw Error, which names file and line, what was given and what is
// allowed.

/// Bytes per second, above 0: "1gbit", "12GB/s".
double rate(const Node& node);
/// Operations per second, above 0: "35Tflop/s".
double flops(const Node& node);
/// Seconds: "50us".
double seconds(const Node& node);
double number(const Node& node, double above);
/// An integer from 1 to kMostRanks.
int count(const Node& node);
const std::string& text(const Node& node);
/// A list of ranks' places on a server, "[0, 1]". `what` names the places in the plural, for errors.
std::vector<int> places(const Node& node, const char* what);

using Reader = std::function<void(const Node&)>;
using Readers = std::vector<std::pair<std::string, Reader>>;
/// Reads each entry with the reader of its field, whose name is in errors; entries without a reader aren't
/// allowed.
void read_map(const Node& node, const Readers& readers);

}  // namespace atl
