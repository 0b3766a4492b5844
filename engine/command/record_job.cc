#include "command/record_job.h"

#include <fmt/format.h>
#include <algorithm>
#include <functional>

#include "base/error.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "command/run/job_room.h"
#include "job/strategies.h"
#include "plan/job_plan.h"
#include "plan/traffic.h"
#include "simulate/record.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

/// Checks that this machine has the memory of all ranks, or of those that are recorded at the same time.
void check_memory_here(const RecordOptions& how, JobPlan plan) {
  if (how.alone) {
    std::ranges::sort(plan.ranks, std::greater(), [](const RankPlan& rank) { return rank.memory.held(); });
    plan.ranks.resize(std::min(plan.ranks.size(), std::size_t(how.at_once)));
  }
  const auto shortfall = shortfall_here(plan, memory_room());
  if (!shortfall || !shortfall->certain) return;
  fail("{}: {}",
       how.alone ? "the largest rank is recorded here"
                 : "all ranks are recorded here (--alone: one after the other)",
       shortfall->text);
}

/// Warns if the topology separates ranks that a cluster would keep together. This isn't refused, because a
/// user may want to see its cost.
void warn_of_servers(const Job& job, const Topology& topology, Say say) {
  const std::vector<int> servers = topology.server_of_rank();
  for (const std::vector<Rank>& group : job.strategy.row->layout(job).groups) {
    const auto is_elsewhere = [&](Rank rank) {
      return servers[std::size_t(rank)] != servers[std::size_t(group.front())];
    };
    const auto other = std::ranges::find_if(group, is_elsewhere);
    if (other == group.end()) continue;
    const auto name_of = [&](Rank rank) {
      return topology.servers[std::size_t(servers[std::size_t(rank)])].name;
    };
    return say(fmt::format(
        "warning: {}: rank {} is on {} and rank {} on {}, which strategy {} takes for ranks of one server",
        topology.name, group.front(), name_of(group.front()), *other, name_of(*other),
        job.strategy.row->kind));
  }
}

/// Records ranks one after the other, and says how far recording has come if it takes long.
Recording one_after_the_other(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                              const RecordOptions& how, Say say) {
  const int ranks = how.sample > 0 ? how.sample : int(how.hosts.size()), step = std::max(32, ranks / 8);
  int through = 0;
  const auto said = [&](Rank) {
    if (++through % step == 0 && through < ranks)
      say(fmt::format("{} of {} ranks are recorded", through, ranks));
  };
  if (how.sample == 0) return record_alone(job, dataset, prepared, how, said);
  DryInputs inputs(job, dataset, prepared, rank_traffic(job, dataset, prepared).parts, how.threads,
                   how.hosts);
  return record_sample(job, dataset, prepared, how, inputs, said);
}

Recording recorded(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                   const RecordOptions& how, Say say) {
  const int ranks = int(how.hosts.size());
  say(fmt::format("recording {}{} {} for {} epochs", how.sample > 0 ? fmt::format("{} of ", how.sample) : "",
                  ranks, ranks == 1 ? "rank" : "ranks", how.epochs));
  return how.alone ? one_after_the_other(job, dataset, prepared, how, say)
                   : record_run(job, dataset, prepared, how);
}

}  // namespace

void check_recordable(const Job& job, const RecordOptions& how) {
  check_concrete(job);
  const bool links = job.task == Task::kLinkPrediction;
  const bool batches = strategy_of(job).holds == Holds::kBatches;
  if (how.modelled && links)
    fail("task linkPrediction: scoring pairs can't be modelled (leave --modelled out)");
  if (how.alone && (links || batches))
    fail("{}: ranks ask each other for rows, and can't be recorded by themselves (leave {} out)",
         links ? "task linkPrediction" : "strategy " + job.strategy.row->kind,
         how.sample > 0 ? "--sample" : "--alone");
}

Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say) {
  Job job = loaded.job;
  job.training.epochs = std::max<decltype(job.training.epochs)>(job.training.epochs, how.epochs);
  check_ranks(topology, job.placement.ranks);
  check_recordable(job, how);
  warn_of_servers(job, topology, say);
  const JobPlan plan = memory_plan(job, dataset, prepared, how.threads);
  if (!how.modelled) check_memory_here(how, plan);
  how.hosts = topology.hosts();
  how.parts = PartRanks(rank_traffic(job, dataset, prepared).parts);
  if (how.sample >= topology.ranks()) how.sample = 0;
  if (how.modelled) say("measuring this machine, a few seconds where nothing else runs");
  Recording recording =
      // Costs are those of a rank's threads while no other rank computes, as in a recording.
      how.modelled ? record_modelled(job, dataset, prepared, how, measured_rates(1, how.threads))
                   : recorded(job, dataset, prepared, how, say);
  for (const RankPlan& rank : plan.ranks) recording.works.push_back(rank.work);
  if (how.rates && !how.modelled) recording.rates = measured_rates(1, how.threads);
  return recording;
}

namespace {

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

}  // namespace

LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say) {
  Arguments changed = arguments;
  changed.add("--ranks", std::to_string(topology.ranks()));
  if (!change.empty()) changed.add("--set", change);
  const LoadedJob loaded = load_job_of(changed, say);
  for (const std::string& servers : servers_of(topology, loaded.job)) changed.add("--set", servers);
  return load_job_of(changed, [](const std::string&) {});
}

}  // namespace atl
