// atoll plan: predicts what a job will take, before it is run.
#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/command_line.h"
#include "command/commands.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "command/record_job.h"
#include "command/run/job_room.h"
#include "job/job.h"
#include "job/layout.h"
#include "job/strategies.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/template.h"
#include "operator/plan/pod_size.h"
#include "plan/batch_source.h"
#include "plan/job_plan.h"
#include "plan/traffic.h"
#include "simulate/simulation.h"
#include "train/rank_data.h"

namespace atl {
namespace {

// `atoll plan --nodes`: shows where the operator would put a job's pods on a cluster that kubectl described.

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream)
    fail("--nodes: {}: can't be read: {}; make it with `kubectl get nodes,pods,pvc,pv,sc -A -o json`",
         file.string(), std::strerror(errno));
  return text;
}

/// The gang as the operator sees it, with the operator's default settings.
ctl::Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows,
                  const ctl::Storage& storage) {
  ctl::Gang gang = ctl::gang_of(job, flows);
  ctl::GnnJob object;
  object.meta.name = job.name;
  object.meta.space = gang.job.substr(0, gang.job.find('/'));
  object.job = job;
  object.status.keys = ctl::kNoKeysYet;
  // The manifest may be for one machine and have no volume. An empty one takes no room.
  if (object.job->dataset.volume.empty()) object.job->dataset.volume = R"({"emptyDir": {}})";
  ctl::count_pods(object, {}, gang);
  for (ctl::GangVolume& volume : gang.volumes)
    volume.place = storage.place_of(object.meta.space + "/" + volume.claim);
  return gang;
}

void check_template(const Job& job) {
  // Only the operator on the cluster knows which capabilities are allowed there. The plan doesn't depend on
  // them, so all are allowed here.
  ctl::Settings settings{.allowed = ctl::guarded_features()};
  settings.allowed.insert(ctl::kAnyCapability);
  if (const auto faults = ctl::template_faults(job, settings); !faults.empty())
    fail("{}", joined(faults, "\n"));
}

/// The size of pods that the operator would choose on these nodes. Nothing if the size isn't the operator's
/// choice, or if no size could hold the job.
std::optional<ctl::PodSize> pod_size_on(const ctl::Snapshot& snapshot, Job job) {
  if (!ctl::leaves_pod_size_open(job, ctl::kGpuResource)) return {};
  std::vector<ctl::Gang> ways;
  for (const int ranks : ctl::pod_sizes(job.placement.ranks)) {
    job.placement.ranks_per_server = ranks;
    ctl::Gang& way = ways.emplace_back(gang_of(job, std::vector<PairBytes>{}, snapshot.storage));
    if (job.placement.policy == PlacementPolicy::kPreferred) way.within = -1;
  }
  return ctl::largest_pods(ways, snapshot, ctl::kGpuResource);
}

/// Prints the placement; returns the exit status, 1 where the job doesn't fit. `flows`: bytes per epoch
/// between ranks, if the parts of the data set are known.
int plan_on_nodes(const Job& job, const ctl::Snapshot& snapshot,
                  const std::optional<std::vector<PairBytes>>& flows, bool json) {
  const ctl::Gang gang = gang_of(job, flows, snapshot.storage);
  const ctl::GangPlan plan = ctl::plan_gang(gang, snapshot);
  std::fputs(json ? (to_json(plan, gang) + "\n").c_str() : to_text(plan, gang, snapshot).c_str(), stdout);
  return plan.fits ? 0 : kStatusFailed;
}

bool is_rate(double number) {
  return number > 0 && std::isfinite(number);  // nan and inf are read as numbers
}

/// Reads rates: "TRIAD,GATHER,PRODUCTS" in GB/s, GB/s and Gflop/s.
MachineRates parse_rates(const std::string& text) {
  MachineRates r;
  char behind = 0;
  const int read =
      std::sscanf(text.c_str(), "%lf,%lf,%lf%c", &r.triad_bytes, &r.gather_bytes, &r.product_flops, &behind);
  if (read != 3 || !is_rate(r.triad_bytes) || !is_rate(r.gather_bytes) || !is_rate(r.product_flops))
    fail(
        "--rates: '{}' is not allowed (use TRIAD,GATHER,PRODUCTS in GB/s, GB/s and Gflop/s, as in 20,12,100)",
        text);
  return {r.triad_bytes * 1e9, r.gather_bytes * 1e9, r.product_flops * 1e9};
}

constexpr Index kSoonPrepared = 4'000'000;  // METIS divides a graph of so many arcs in seconds

/// The prepared graph to plan from. None if mini-batches can be planned without one and it hasn't been
/// prepared, because preparing may take hours. A small graph is prepared all the same if the plan would have
/// to assume its parts.
std::optional<PreparedGraph> graph_to_plan_from(const Arguments& a, const LoadedJob& loaded,
                                                const Dataset& dataset) {
  const bool is_small = assumes_parts(loaded.job) && dataset.meta().arcs <= kSoonPrepared;
  const bool can_do_without =
      strategy_of(loaded.job).holds == Holds::kBatches && !is_small && !a.has("--prepare");
  if (can_do_without && !is_prepared(loaded, dataset)) return {};
  return prepare_graph(loaded, dataset, say);
}

/// Plans the job on a cluster's nodes, with the traffic between parts if the data set is here.
int run_on_nodes(const Arguments& a, LoadedJob loaded) {
  check_concrete(loaded.job);
  const std::filesystem::path nodes = a.get("--nodes");
  const ctl::Snapshot snapshot = ctl::read_snapshot(text_of(nodes), nodes.string());
  check_template(loaded.job);
  if (const auto size = pod_size_on(snapshot, loaded.job)) {
    say(size->reason);
    if (size->ranks > 1) loaded.job.placement.ranks_per_server = size->ranks;
  }
  std::optional<std::vector<PairBytes>> flows;
  try {
    const Dataset dataset = dataset_of(a, loaded, say);
    if (const auto prepared = graph_to_plan_from(a, loaded, dataset))
      flows = rank_traffic(loaded.job, dataset, *prepared).flows;
    else
      say("the graph isn't prepared yet: traffic between ranks is assumed equal");
  } catch (const Error& error) {
    say(fmt::format("traffic between ranks is unknown and assumed equal: {}", error.what()));
  }
  return plan_on_nodes(loaded.job, snapshot, flows, a.has("--json"));
}

/// Records every rank here, and replays its epochs over the topology's links.
void simulate_into(const Arguments& a, const LoadedJob& loaded, const Dataset& dataset,
                   const PreparedGraph& prepared, JobPlan& plan) {
  const Topology topology = read_topology(a.get("--topology"));
  const Recording recording =
      record_here(loaded, dataset, prepared, topology,
                  {.threads = plan.threads, .rates = topology.rates.has_value()}, say);
  enter_simulated(loaded.job, simulate({"", recording}, topology).epoch, topology.name, plan);
}

/// The rate of --link in bytes per second.
double link_of(const Arguments& a) {
  const double rate = a.number("--link", 0) * 1e9;
  if (!is_rate(rate)) fail("--link: '{}' is not allowed (use GB/s above 0)", a.get("--link"));
  return rate;
}

MachineRates rates_of(const Arguments& a, const Card* card, int ranks, int threads) {
  if (card != nullptr && a.has("--rates")) fail("--gpu and --rates exclude each other (use one)");
  if (card != nullptr) return card->rates;
  return a.has("--rates") ? parse_rates(a.get("--rates")) : measured_rates(ranks, threads);
}

/// Whether the plan is for ranks on GPUs, whose memory isn't the host's.
bool is_for_gpus(const Arguments& a, const Job& job) {
  return a.has("--gpu") || job.resources.gpus > 0;
}

/// The options for comparing strategies, and for choosing one for auto: the servers, links and rates that are
/// given.
CompareOptions compare_options(const Arguments& a, const LoadedJob& given, int threads) {
  CompareOptions options{.threads = threads, .on_gpus = is_for_gpus(a, given.job)};
  if (a.has("--topology")) options.topology = read_topology(a.get("--topology"));
  if (options.topology && (a.has("--ranks") || given.given.contains("placement.ranks")))
    check_ranks(*options.topology, given.job.placement.ranks);
  const Card* const card = a.has("--gpu") ? &card_of(a.get("--gpu")) : nullptr;
  if (card != nullptr || a.has("--rates")) options.rates = rates_of(a, card, 1, threads);
  if (a.has("--link")) options.link = link_of(a);
  return options;
}

int run_comparison(const Arguments& a, const LoadedJob& given, const Dataset& dataset, int threads) {
  CompareOptions options = compare_options(a, given, threads);
  if (a.has("--trial")) options.trial = a.integer("--trial", 0, 0, 100'000);
  const Comparison comparison = compare_strategies(a, given, dataset, options, say);
  std::fputs((a.has("--json") ? to_json(comparison) + "\n" : to_text(comparison)).c_str(), stdout);
  return 0;
}

int run_plan(const Arguments& a) {
  if (a.has("--nodes") && a.has("--compare")) fail("--nodes and --compare exclude each other (use one)");
  if (a.has("--trial") && !a.has("--compare"))
    fail("--trial is for --compare (add it, or give strategy.trial with strategy.kind: auto)");
  if (a.has("--gpu") && a.has("--topology"))
    fail("--gpu and --topology exclude each other (a topology's file has compute.rates of its own)");
  const LoadedJob given = load_job_of(a, say);
  if (a.has("--nodes")) return run_on_nodes(a, given);
  PlanOptions options;
  options.threads = threads_of(a, given.job);
  const Dataset dataset = dataset_of(a, given, say);
  if (a.has("--compare")) return run_comparison(a, given, dataset, options.threads);
  const CompareOptions chosen_by =
      is_open(given.job) ? compare_options(a, given, options.threads) : CompareOptions{};
  const LoadedJob loaded =
      within_budget(concrete_job(a, given, dataset, chosen_by, say), dataset, options.threads, say);
  const Job& job = loaded.job;
  const std::optional<PreparedGraph> prepared = graph_to_plan_from(a, loaded, dataset);
  const Card* const card = a.has("--gpu") ? &card_of(a.get("--gpu")) : nullptr;
  options.rates = rates_of(a, card, job.placement.ranks, options.threads);
  // Between ranks of one machine, a byte is read twice and written twice.
  const double near_link = card != nullptr ? card->link_bytes : options.rates.triad_bytes / 4;
  options.link_bytes = a.has("--link") ? link_of(a) : near_link;
  JobPlan plan = prepared ? plan_job(job, dataset, *prepared, options) : plan_job(job, dataset, options);
  plan.card = card;
  warn_of_memory(loaded, plan, is_for_gpus(a, job) ? TrainsOn::kGpus : TrainsOn::kCpus, say);
  if (a.has("--topology")) {
    if (!prepared) fail("--topology: ranks are recorded on the prepared graph (add --prepare)");
    simulate_into(a, loaded, dataset, *prepared, plan);
  }
  if (a.has("--json")) {
    std::printf("%s\n", to_json(plan, job).c_str());
  } else {
    const std::string quality = prepared ? to_text(prepared->quality()) + "\n" : "";
    std::fputs((quality + to_text(plan, job)).c_str(), stdout);
  }
  return 0;
}

}  // namespace

Command plan_command() {
  return {
      "plan",
      "predict time, bytes and memory of a run",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml); - reads standard input", true},
       {"--ranks", "N", "number of ranks, instead of placement.ranks"},
       {"--threads", "N", "threads per rank (resources.cpu, or the machine's cores divided among its ranks)"},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       prepared_argument(),
       {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
       {"--rates", "T,G,P",
        "a rank's rates: triad and gather in GB/s, dense products in Gflop/s (measured here)"},
       {"--gpu", "CARD",
        fmt::format("predict for ranks that each have a GPU: {} (a model, see docs/gpu.md)", card_names())},
       {"--link", "GB/S",
        "a server's link rate in each direction (a quarter of this machine's memory rate; with --gpu, what PCIe carries)"},
       {"--topology", "FILE",
        "measure epochs: record all ranks here, replay them over its links (atoll simulate)"},
       {"--compare", "",
        "compare all strategies: time, bytes, memory, accuracy, and which is best (docs/strategies.md)"},
       {"--trial", "STEPS",
        "with --compare: first train graph, and each inexact strategy that could be faster, for STEPS steps, however long they take "
        "(default: strategy.trial, within strategy.trialShare; 0 without strategy auto)"},
       {"--prepare", "", "minibatch: prepare a large graph first, where no run has yet, and plan from it"},
       {"--nodes", "FILE",
        "output of `kubectl get nodes,pods,pvc,pv,sc -A -o json`: print where the ranks would run"},
       {"--json", "", "print one JSON object"}},
      run_plan};
}

}  // namespace atl
