// atoll prepare: the data set checked or generated, the graph partitioned, and what a planner must know of the job, before
// its ranks have a place. On a cluster a pod with the data set's volume runs it once.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "command/commands.h"
#include "command/compare.h"
#include "command/run/job_room.h"
#include "command/run/memory_budget.h"
#include "plan/part_order.h"

namespace atl {
namespace {

void say(const std::string& line) {
  std::fprintf(stderr, "atoll: %s\n", line.c_str());
}

/// Whole bytes: [from, to, bytes an epoch].
nlohmann::ordered_json flows_json(const std::vector<PairBytes>& flows) {
  auto json = nlohmann::ordered_json::array();
  for (const PairBytes& flow : flows) json.push_back({flow.from, flow.to, std::int64_t(flow.bytes)});
  return json;
}

/// Ranks read the manifest as it was given.
void refuse_open(const Arguments& a, const LoadedJob& loaded, const Dataset& dataset) {
  if (!is_open(loaded.job)) return;
  const Comparison comparison =
      compare_strategies(a, loaded, dataset, {.threads = threads_of(a, loaded.job)}, say);
  const ComparedStrategy* best = comparison.best(comparison.exact);
  fail("{}: strategy.kind: auto: on a cluster nothing is chosen for a job ({})",
       where_of(loaded.given, "strategy.kind"),
       best == nullptr ? "give a strategy" : "give " + best->change + ", which is best by prediction");
}

int run(const Arguments& a) {
  const LoadedJob loaded = load_job_of(a, say);
  const Dataset dataset = Dataset::open(dataset_of(a, loaded, say));
  refuse_open(a, loaded, dataset);
  check_budget(loaded, dataset, threads_of(a, loaded.job), say);
  const PreparedGraph prepared = prepare_graph(loaded, dataset, say);
  const auto plan_of = [&, threads = threads_of(a, loaded.job)](const Job& job) {
    return memory_plan(job, dataset, prepared, threads);
  };
  const JobPlan plan = plan_of(loaded.job);
  check_memory(loaded, plan, /*here=*/false, plan_of, say);
  nlohmann::ordered_json json{{"event", "prepared"},
                              {"dataset", dataset.meta().name},
                              {"datasetChecksum", dataset.meta().checksum},
                              {"preparedChecksum", prepared.checksum()},
                              {"ranks", loaded.job.placement.ranks}};
  for (const RankPlan& rank : plan.ranks) json["peakMemoryBytes"].push_back(rank.memory.peak());
  const RankTraffic traffic = rank_traffic(loaded.job, dataset, prepared);
  json["parts"] = traffic.parts;
  json["flows"] = flows_json(traffic.flows);
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace

Command prepare_command() {
  Command command{
      "prepare",
      "check the data set, partition its graph, print the bytes between ranks (the operator calls it)",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml)", true},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"}},
      run};
  command.caller = "the operator";
  return command;
}

}  // namespace atl
