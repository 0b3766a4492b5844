#include "simulate/topology.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;  // the most bytes of a file; a larger or endless file is refused

double per_megabyte(const Node& node) {
  return seconds(node) * 1e-6;
}

/// Reads a link; `more` adds readers for further fields.
Reader read_link(NetworkLink& link, Readers more = {}) {
  more.emplace_back("rate", [&link](const Node& n) { link.rate = rate(n); });
  more.emplace_back("latency", [&link](const Node& n) { link.latency = seconds(n); });
  return [more = std::move(more)](const Node& node) { read_map(node, more); };
}

Bridge read_bridge(const Node& node) {
  const std::vector<int> both = places(node, "two places on a server");
  if (both.size() != 2 || both[0] == both[1])
    fail("{}: two places on a server are wanted, as in [0, 1]", node.where);
  return {both[0], both[1]};
}

/// What has been read so far, and is checked when the whole file has been read.
struct Draft {
  Topology topology;
  NetworkLink between;
  int servers = 0, per_server = 0;  // 0: not given
  bool has_bridges = false;
};

void read_servers(const Node& node, Draft& draft) {
  if (node.kind == Node::Kind::kScalar) {
    draft.servers = count(node);
    return;
  }
  if (node.kind != Node::Kind::kList) fail("{}: a number or a list of servers is wanted", node.where);
  for (const Node& item : node.items) {
    ServerSpec server{.name = fmt::format("server{}", draft.topology.servers.size()), .ranks = {}};
    read_map(item, {{"name", [&](const Node& n) { server.name = text(n); }},
                    {"ranks", [&](const Node& n) { server.ranks = places(n, "ranks"); }},
                    {"rate", [&](const Node& n) { server.rate = rate(n); }}});
    draft.topology.servers.push_back(std::move(server));
  }
}

/// Reads all three rates, or a factor.
void read_compute(const Node& node, Topology& t) {
  MachineRates rates;
  const auto read_rates = [&](const Node& of_rates) {
    read_map(of_rates, {{"products", [&](const Node& n) { rates.product_flops = flops(n); }},
                        {"gathers", [&](const Node& n) { rates.gather_bytes = rate(n); }},
                        {"streams", [&](const Node& n) { rates.triad_bytes = rate(n); }}});
    if (!(rates.product_flops > 0 && rates.gather_bytes > 0 && rates.triad_bytes > 0))
      fail("{}: three rates are wanted: products, gathers and streams", of_rates.where);
    t.rates = rates;
  };
  bool has_speed = false;
  read_map(node, {{"speed", [&](const Node& n) { t.speed = number(n, 0), has_speed = true; }},
                  {"rates", read_rates}});
  if (has_speed && t.rates) fail("{}: speed and rates exclude each other (use one)", node.where);
  t.is_model = has_speed || t.rates;
}

Readers readers_of(Draft& d) {
  Topology& t = d.topology;
  return {{"name", [&t](const Node& n) { t.name = text(n); }},
          {"source", [&t](const Node& n) { t.source = text(n); }},
          {"servers", [&d](const Node& n) { read_servers(n, d); }},
          {"ranksPerServer", [&d](const Node& n) { d.per_server = count(n); }},
          {"cores", [&t](const Node& n) { t.cores = number(n, 0); }},
          {"between", read_link(d.between)},
          {"inside",
           read_link(t.inside,
                     {{"perMegabyte", [&t](const Node& n) { t.inside.byte_seconds = per_megabyte(n); }}})},
          {"bridges",
           [&d, read = read_link(t.bridge, {{"pairs",
                                             [&t](const Node& n) {
                                               for (const Node& pair : n.items)
                                                 t.bridges.push_back(read_bridge(pair));
                                             }}})](const Node& node) {
             d.has_bridges = true;
             read(node);
           }},
          {"racks",
           [&t](const Node& node) {
             read_map(node, {{"servers", [&](const Node& n) { t.rack_servers = count(n); }},
                             {"rate", [&](const Node& n) { t.rack_rate = rate(n); }}});
           }},
          {"costs",
           [&t](const Node& node) {
             read_map(node, {{"perMegabyte", [&](const Node& n) { t.byte_seconds = per_megabyte(n); }},
                             {"perMessage", [&](const Node& n) { t.message_seconds = seconds(n); }}});
           }},
          {"compute", [&t](const Node& n) { read_compute(n, t); }}};
}

/// Numbers servers of equal size, where the file only counts them.
void number_servers(Draft& draft, const std::string& name) {
  if (draft.servers == 0 && draft.per_server > 0 && !draft.topology.servers.empty())
    fail("{}: ranksPerServer has no place beside a list of servers, which has their ranks (remove it)", name);
  const int each = std::max(1, draft.per_server);
  if (draft.servers * each > kMostRanks)
    fail("{}: {} servers of {} ranks are {} ranks (use at most {} in all)", name, draft.servers, each,
         draft.servers * each, kMostRanks);
  for (int s = 0; s < draft.servers; ++s) {
    ServerSpec server{.name = fmt::format("server{}", s), .ranks = {}};
    for (int i = 0; i < each; ++i) server.ranks.push_back(s * each + i);
    draft.topology.servers.push_back(std::move(server));
  }
}

/// Checks that each rank is on one server, and that servers have different names.
void check_servers(const Topology& t, const std::string& name) {
  if (t.servers.empty()) fail("{}: servers are missing (use servers: 2, or a list of them)", name);
  std::vector<std::string> owner;
  std::set<std::string> names;
  for (const ServerSpec& server : t.servers) {
    if (server.ranks.empty()) fail("{}: {} has no ranks (use ranks: [0, 1])", name, server.name);
    if (!names.insert(server.name).second)
      fail("{}: two servers are called {} (give each a name of its own)", name, server.name);
    for (const Rank rank : server.ranks) {
      if (owner.size() <= std::size_t(rank)) owner.resize(std::size_t(rank) + 1);
      std::string& place = owner[std::size_t(rank)];
      if (!place.empty()) fail("{}: rank {} is on {} and on {} (use one)", name, rank, place, server.name);
      place = server.name;
    }
  }
  for (std::size_t r = 0; r < owner.size(); ++r)
    if (owner[r].empty())
      fail("{}: rank {} is on no server, but rank {} is on {}; a server is missing", name, r,
           owner.size() - 1, owner.back());
}

void check_links(const Draft& draft, const std::string& name) {
  const Topology& t = draft.topology;
  std::size_t most = 0;
  for (const ServerSpec& server : t.servers) most = std::max(most, server.ranks.size());
  if (t.servers.size() > 1 && !(draft.between.rate > 0))
    fail("{}: between.rate is missing (use between: {{rate: 1gbit}})", name);
  if (most > 1 && !(t.inside.rate > 0))
    fail("{}: inside.rate is missing (use inside: {{rate: 12GB/s}})", name);
  if (draft.has_bridges && (t.bridges.empty() || !(t.bridge.rate > 0)))
    fail("{}: bridges want pairs and a rate, as in {{pairs: [[0, 1]], rate: 50GB/s}}", name);
  for (const Bridge& bridge : t.bridges)
    if (const int place = std::max(bridge.from, bridge.to); place >= int(most))
      fail("{}: bridges: a server has no place {} (use places 0 … {})", name, place, most - 1);
  if ((t.rack_servers > 0) != (t.rack_rate > 0))
    fail("{}: racks want servers and a rate, as in {{servers: 4, rate: 100gbit}}", name);
}

}  // namespace

int Topology::ranks() const {
  int all = 0;
  for (const ServerSpec& server : servers) all += int(server.ranks.size());
  return all;
}

std::vector<std::string> Topology::hosts() const {
  std::vector<std::string> names(static_cast<std::size_t>(ranks()));
  for (const ServerSpec& server : servers)
    for (const Rank rank : server.ranks) names[std::size_t(rank)] = server.name;
  return names;
}

std::vector<int> Topology::server_of_rank() const {
  std::vector<int> of_rank(std::size_t(ranks()), -1);
  for (std::size_t s = 0; s < servers.size(); ++s)
    for (const Rank rank : servers[s].ranks) of_rank[std::size_t(rank)] = int(s);
  return of_rank;
}

double Topology::slowest_rate() const {
  return std::ranges::min_element(servers, {}, &ServerSpec::rate)->rate;
}

Topology parse_topology(const std::string& content, const std::string& name) {
  const std::vector<Node> documents = parse_yaml(content, name);
  if (documents.empty())
    fail("{}: is empty (a topology has servers: and between:, as those in manifests/topologies)", name);
  if (documents.size() > 1) fail("{}: has {} topologies (use a file for each)", name, documents.size());
  Draft draft;
  draft.topology.name = std::filesystem::path(name).stem().string();
  read_map(documents[0], readers_of(draft));
  number_servers(draft, name);
  for (ServerSpec& server : draft.topology.servers)
    if (server.rate == 0) server.rate = draft.between.rate;
  draft.topology.latency = draft.between.latency;
  check_servers(draft.topology, name);
  check_links(draft, name);
  return std::move(draft.topology);
}

Topology read_topology(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    fail("--topology: '{}' is a folder (use a file as those in manifests/topologies)", file.string());
  std::ifstream in(file);
  if (!in)
    fail("--topology: '{}' can't be read (use a file as those in manifests/topologies)", file.string());
  std::string content(kMostBytes + 1, '\0');
  in.read(content.data(), std::streamsize(content.size()));
  content.resize(std::size_t(in.gcount()));
  if (content.size() > kMostBytes)
    fail("--topology: '{}' is longer than a topology is, {} (use a file as those in manifests/topologies)",
         file.string(), bytes_text(double(kMostBytes)));
  return parse_topology(content, file.string());
}

void check_ranks(const Topology& topology, int ranks) {
  if (topology.ranks() == ranks) return;
  fail("{}: {} servers have {} ranks, and the job has {} (use --ranks {}, or a topology with as many)",
       topology.name, topology.servers.size(), topology.ranks(), ranks, topology.ranks());
}

}  // namespace atl
