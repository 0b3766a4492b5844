// atoll prepare: checks or generates the data set, partitions the graph, and reports what a planner must know
// of the job, before its ranks have places. On a cluster, a pod with the data set's volume runs it once.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "command/commands.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "command/run/attempt_file.h"
#include "command/run/job_room.h"
#include "job/strategies.h"
#include "plan/traffic.h"

namespace atl {
namespace {

/// The most pairs in the line. The line is read from the pod's log and kept in a ConfigMap, either of which
/// holds 1 MiB.
constexpr std::size_t kMostFlows = 30'000;

/// The flows as [from, to, bytes in an epoch], in whole bytes.
nlohmann::ordered_json flows_json(const std::vector<PairBytes>& flows) {
  auto json = nlohmann::ordered_json::array();
  for (const PairBytes& flow : flows) json.push_back({flow.from, flow.to, std::int64_t(flow.bytes)});
  return json;
}

/// The pod of each rank. Ranks of different pods may be placed on different machines.
std::vector<std::string> pods_of(const Job& job) {
  std::vector<std::string> pods(std::size_t(job.placement.ranks));
  const Layout layout = job.strategy.row->layout(job);
  for (std::size_t pod = 0; pod < layout.groups.size(); ++pod)
    for (const Rank rank : layout.groups[pod]) pods[std::size_t(rank)] = fmt::format("pod {}", pod);
  return pods;
}

/// Chooses a strategy for strategy auto. This pod has as many processors as a pod of ranks.
ChosenStrategy choose(const Arguments& a, const LoadedJob& given, const Dataset& dataset) {
  const Job& job = given.job;
  if (job.resources.gpus > 0)
    fail(
        "{}: strategy.kind: auto: for GPUs nothing is chosen on a cluster, because none is here to measure "
        "(give a strategy; atoll plan --compare --gpu NAME compares them)",
        where_of(given.given, "strategy.kind"));
  const int threads = threads_of(a, job);
  const MachineRates rates = measured_rates(std::max(job.placement.ranks_per_server, 1), threads);
  ChosenStrategy choice =
      choose_strategy(a, given, dataset, {.threads = threads, .hosts = pods_of(job), .rates = rates}, say);
  say("strategy auto is " + choice.why);
  return choice;
}

/// Also writes a short line to the pod's termination message, which the operator gets without asking for the
/// log.
void leave_findings(const Arguments& a, const nlohmann::ordered_json& found, std::size_t size) {
  constexpr const char* kOfAPod = "/dev/termination-log";
  if (size > kLongestWord || (!a.has("--result") && !std::filesystem::exists(kOfAPod))) return;
  leave_word(a.get("--result", kOfAPod), found);
}

int run_prepare(const Arguments& a) {
  const LoadedJob given = load_job_of(a, say);
  const Dataset dataset = dataset_of(a, given, say);
  const std::optional<ChosenStrategy> choice =
      is_open(given.job) ? std::optional(choose(a, given, dataset)) : std::nullopt;
  const LoadedJob& loaded = choice ? choice->job : given;
  if (const std::string line = self_loops_line(dataset.meta(), loaded.job); !line.empty()) say(line);
  check_budget(loaded, dataset, threads_of(a, loaded.job), say);
  const PreparedGraph prepared = prepare_graph(loaded, dataset, say);
  const JobPlan plan = memory_plan(loaded.job, dataset, prepared, threads_of(a, loaded.job));
  const TrainsOn on = loaded.job.resources.gpus > 0 ? TrainsOn::kGpus : TrainsOn::kCpus;
  check_memory(loaded, plan, /*here=*/false, on, say);
  nlohmann::ordered_json json{{"event", "prepared"},
                              {"dataset", dataset.meta().name},
                              {"datasetChecksum", dataset.meta().checksum},
                              {"preparedChecksum", prepared.checksum()},
                              {"ranks", loaded.job.placement.ranks}};
  if (choice) {
    json["strategy"] = choice->strategy;
    json["strategyReason"] = choice->why.substr(choice->why.find(": ") + 2);  // after the strategy's name
  }
  for (const RankPlan& rank : plan.ranks) json["peakMemoryBytes"].push_back(rank.memory.peak());
  const RankTraffic traffic = rank_traffic(loaded.job, dataset, prepared);
  json["parts"] = traffic.parts;
  // This is the layout by which the operator makes pods.
  const Layout layout = given.job.strategy.row->layout(given.job);
  const ServerFlows flows = server_flows(layout, traffic.flows, kMostFlows);
  json["flows"] = flows_json(flows.listed);
  if (flows.unlisted > 0) json["unlistedFlow"] = std::int64_t(flows.unlisted);
  const std::string line = json.dump();
  leave_findings(a, json, line.size());
  std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

Command prepare_command() {
  Command command{
      "prepare",
      "check the data set, choose strategy auto's, partition the graph, print the bytes between ranks (the operator calls it)",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml)", true},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       prepared_argument(),
       {"--result", "FILE",
        "file for the same line where that is short (/dev/termination-log, if it is there)"}},
      run_prepare};
  command.caller = "the operator";
  return command;
}

}  // namespace atl
