// atoll simulate: runs a job's ranks here, one at a time, and predicts its epochs on servers and links that
// aren't here.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/threads.h"
#include "command/bench/cells.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/record_job.h"
#include "command/run/job_room.h"
#include "job/strategies.h"
#include "simulate/simulation.h"
#include "simulate/topology.h"

namespace atl {
namespace {

constexpr long kFewestEpochs = 4,
               kMostEpochs = 100;    // epochs of a recording; the first claims memory and isn't judged
constexpr long kSmallestSample = 4;  // ranks, as a segment's law has up to four factors

/// The manifest's strategy, or those of --strategies instead.
std::vector<ListedStrategy> listed(const Arguments& a, const Topology& topology) {
  if (a.has("--strategies")) return read_strategy_list(a.get("--strategies"));
  const LoadedJob loaded = job_on(topology, a, "", [](const std::string&) {});
  return {{loaded.job.strategy.row->kind, "", ""}};
}

struct Candidate {
  std::string label;
  LoadedJob loaded;
  Dataset dataset;
};

/// Checks all strategies, so that an impossible one is reported before the first is recorded.
std::vector<Candidate> candidates(const Arguments& a, const Topology& topology, const RecordOptions& how) {
  std::vector<Candidate> all;
  for (const ListedStrategy& strategy : listed(a, topology)) {
    LoadedJob loaded = job_on(topology, a, strategy.change, say);
    check_recordable(loaded.job, how);
    Dataset dataset = dataset_of(a, loaded, say);
    loaded = within_budget(loaded, dataset, how.threads, say);
    all.push_back({strategy.label, std::move(loaded), std::move(dataset)});
  }
  return all;
}

/// The options of recording. Options that say which ranks run, and how, are refused beside --modelled, where
/// they would have no effect.
RecordOptions how_to_record(const Arguments& a) {
  for (const char* option : {"--alone", "--sample", "--at-once"})
    if (a.has("--modelled") && a.has(option))
      fail("--modelled and {} exclude each other: a model runs no rank (use one)", option);
  return {.epochs = int(a.integer("--epochs", 8, kFewestEpochs, kMostEpochs)),
          .at_once = int(a.integer("--at-once", 1, 1, available_cores())),
          .alone = a.has("--alone") || a.has("--sample"),
          .sample = int(a.integer("--sample", 0, kSmallestSample, kMostRanks)),
          .modelled = a.has("--modelled"),
          .threads = int(a.integer("--threads", 1, 1, available_cores()))};
}

RecordedStrategy record(const Candidate& candidate, const Topology& topology, const RecordOptions& how) {
  const auto& [label, loaded, dataset] = candidate;
  say(label);
  return {label, record_here(loaded, dataset, prepare_graph(loaded, dataset, say), topology, how, say)};
}

/// Checks that all topologies have the same servers. One recording serves all of them, because the graph is
/// divided among the servers.
void check_alike(const std::vector<Topology>& topologies) {
  const Topology& first = topologies.front();
  for (const Topology& other : topologies)
    if (other.server_of_rank() != first.server_of_rank())
      fail(
          "--topology: {} has {} ranks on {} servers and {} {} on {} (give topologies with the same ranks on each server, or "
          "simulate each by itself)",
          first.name, first.ranks(), first.servers.size(), other.name, other.ranks(), other.servers.size());
}

/// Reads shares of communication: "0.5,0.65"; empty: links are as in the topology.
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

int run_simulate(const Arguments& a) {
  std::vector<Topology> topologies;
  for (const std::string& file : a.all("--topology")) topologies.push_back(read_topology(file));
  check_alike(topologies);
  const std::vector<double> shares = shares_of(a);
  RecordOptions how = how_to_record(a);
  how.rates = std::ranges::any_of(topologies, [](const Topology& t) { return t.rates.has_value(); });
  std::vector<RecordedStrategy> recorded;
  for (const Candidate& candidate : candidates(a, topologies.front(), how))
    recorded.push_back(record(candidate, topologies.front(), how));
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
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml); - reads standard input", true},
       {"--topology", "FILE", "servers and links (manifests/topologies/*.yaml); may be repeated", true, true},
       {"--strategies", "KIND,...",
        "strategies to compare, with options: graph:overlap=false,gnnpipe (the manifest's)"},
       {"--comm-share", "X,...",
        "make all links faster or slower until this share of the first strategy's epoch is communication"},
       {"--epochs", "N", "epochs to record (8)"},
       {"--at-once", "N", "ranks that compute at the same time while recording, contending for memory (1)"},
       {"--alone", "",
        "record each rank by itself, with empty messages: memory for one is enough, and there are no losses"},
       {"--sample", "N",
        "as --alone, but record only N ranks; the others' computing is derived from what they hold (all ranks)"},
       {"--modelled", "",
        "run no rank: predict computing from kernels' work and this machine's rates, in seconds and without memory for the data"},
       {"--threads", "N", "threads of each rank (1)"},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       prepared_argument(),
       {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
       {"--json", "", "print one JSON object"}},
      run_simulate};
}

}  // namespace atl
