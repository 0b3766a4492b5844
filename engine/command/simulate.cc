// atoll simulate: the ranks of a job run here, one at a time, and how long its epochs would take on servers and links that are not here.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/threads.h"
#include "command/bench/cells.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/record_job.h"
#include "plan/simulate/simulation.h"

namespace atl {
namespace {

constexpr long kFewestEpochs = 4,
               kMostEpochs = 100;  // recorded; the first, which claims memory, isn't judged

void say(const std::string& line) {
  std::fprintf(stderr, "atoll: %s\n", line.c_str());
}

/// The strategy of the manifest, or those of --strategies in its place.
std::vector<ListedStrategy> listed(const Arguments& a) {
  if (a.has("--strategies")) return read_strategy_list(a.get("--strategies"));
  return {{load_job_of(a, [](const std::string&) {}).job.strategy.kind, "", ""}};
}

/// Servers as the topology has them, where the manifest doesn't say: strategies cut the graph by them.
std::vector<std::string> servers_of(const Topology& topology, const Job& job) {
  const std::size_t each = topology.servers.front().ranks.size();
  const bool equal =
      std::ranges::all_of(topology.servers, [&](const auto& s) { return s.ranks.size() == each; });
  const int given = job.placement.ranks_per_server;
  if (given > 0 && equal && std::size_t(given) != each)
    fail("placement.ranksPerServer: {} is not what {}'s servers have (use {}, or leave it out)", given,
         topology.name, each);
  if (!equal || each == 1 || given > 0) return {};
  return {fmt::format("placement.ranksPerServer={}", each)};
}

LoadedJob job_of(const Arguments& a, const ListedStrategy& strategy, const Topology& topology) {
  Arguments changed = a;
  if (!strategy.change.empty()) changed.add("--set", strategy.change);
  if (!a.has("--ranks")) changed.add("--ranks", std::to_string(topology.ranks()));
  const LoadedJob loaded = load_job_of(changed, say);
  for (const std::string& change : servers_of(topology, loaded.job)) changed.add("--set", change);
  return load_job_of(changed, [](const std::string&) {});
}

/// The graph is divided among the servers as they are recorded.
void check_same_servers(const Topology& recorded, const Topology& topology) {
  check_ranks(topology, recorded.ranks());
  if (topology.server_of_rank() != recorded.server_of_rank())
    fail("--topology: ranks are on other servers in {} than in {} (use one command for each)", topology.name,
         recorded.name);
}

RecordedStrategy record(const Arguments& a, const ListedStrategy& strategy, const Topology& topology) {
  const LoadedJob loaded = job_of(a, strategy, topology);
  const Dataset dataset = Dataset::open(dataset_of(a, loaded, say));
  check_ranks(topology, loaded.job.placement.ranks);
  say(strategy.label);
  const RecordHere how{.epochs = int(a.integer("--epochs", 6, kFewestEpochs, kMostEpochs)),
                       .at_once = int(a.integer("--at-once", 1, 1, available_cores())),
                       .threads = int(a.integer("--threads", 1, 1, available_cores()))};
  return {strategy.label,
          record_here(loaded, dataset, prepare_graph(loaded, dataset, say), topology, how, say)};
}

/// "0.5,0.65"; none: links as the topology has them.
std::vector<double> shares_of(const Arguments& a) {
  std::vector<double> shares;
  const std::string text = a.get("--comm-share");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    Arguments one;
    one.add("--comm-share", text.substr(at, comma - at));
    shares.push_back(one.number("--comm-share", 0));
    if (!(shares.back() > 0 && shares.back() < 1))
      fail("--comm-share: '{}' is not allowed (use shares between 0 and 1, as in 0.5,0.65)", text);
    at = comma + 1;
  }
  return shares;
}

std::vector<Simulation> simulations_of(const std::vector<RecordedStrategy>& recorded,
                                       const std::vector<Topology>& topologies,
                                       const std::vector<double>& shares) {
  std::vector<Simulation> all;
  for (const Topology& topology : topologies) {
    if (shares.empty()) all.push_back(simulate_all(recorded, topology));
    for (const double share : shares) {
      Simulation& one =
          all.emplace_back(simulate_all(recorded, with_share(recorded.front(), topology, share)));
      one.share_asked = share, one.share_reached = one.rows.front().share();
    }
  }
  return all;
}

int run(const Arguments& a) {
  std::vector<Topology> topologies;
  for (const std::string& file : a.all("--topology")) topologies.push_back(read_topology(file));
  for (const Topology& topology : topologies) check_same_servers(topologies.front(), topology);
  const std::vector<double> shares = shares_of(a);
  std::vector<RecordedStrategy> recorded;
  for (const ListedStrategy& strategy : listed(a))
    recorded.push_back(record(a, strategy, topologies.front()));
  const std::vector<Simulation> simulations = simulations_of(recorded, topologies, shares);
  if (a.has("--json")) {
    std::printf("%s\n", to_json(simulations, recorded).c_str());
    return 0;
  }
  for (std::size_t i = 0; i < simulations.size(); ++i)
    std::printf("%s%s", i > 0 ? "\n" : "", to_text(simulations[i], recorded).c_str());
  return 0;
}

}  // namespace

Command simulate_command() {
  return {
      "simulate",
      "predict epochs on other servers and links: record all ranks here, replay them there",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml)", true},
       {"--topology", "FILE", "servers and links (manifests/topologies/*.yaml); may be repeated", true, true},
       {"--strategies", "KIND,…",
        "strategies to compare, with options: graph:overlap=false,gnnpipe (the manifest's)"},
       {"--comm-share", "X,…",
        "make all links faster or slower until this share of the first strategy's epoch is communication"},
       {"--epochs", "N", "epochs to record (6)"},
       {"--at-once", "N", "ranks that compute at the same time while recording, contending for memory (1)"},
       {"--threads", "N", "threads of each rank (1)"},
       {"--ranks", "N", "number of ranks, instead of the topology's"},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
       {"--json", "", "print one JSON object"}},
      run};
}

}  // namespace atl
