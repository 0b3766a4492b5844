#include "command/record_job.h"

#include <fmt/format.h>

#include "base/error.h"
#include "command/run/job_room.h"
#include "plan/part_order.h"
#include "plan/shortfall.h"
#include "strategy/strategy.h"

namespace atl {
namespace {

void check_memory_here(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads) {
  const JobPlan plan = memory_plan(job, dataset, prepared, threads);
  if (const auto shortfall = shortfall_here(plan, memory_room()); shortfall && shortfall->certain)
    fail("all ranks are recorded here: {}", shortfall->text);
}

}  // namespace

void check_recordable(const Job& job) {
  if (strategy_of(job).holds == Holds::kBatches)
    fail("strategy {} can't be recorded yet: its batches are made on threads of their own (leave it out)",
         job.strategy.kind);
}

Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say) {
  const Job& job = loaded.job;
  check_ranks(topology, job.placement.ranks);
  check_recordable(job);
  check_memory_here(job, dataset, prepared, how.threads);
  how.hosts.resize(std::size_t(topology.ranks()));
  for (const ServerSpec& server : topology.servers)
    for (const Rank rank : server.ranks) how.hosts[std::size_t(rank)] = server.name;
  how.parts = PartRanks(rank_traffic(job, dataset, prepared).parts);
  say(fmt::format("recording {} {} for {} epochs", topology.ranks(), topology.ranks() == 1 ? "rank" : "ranks",
                  how.epochs));
  return record_run(job, dataset, prepared, how);
}

}  // namespace atl
