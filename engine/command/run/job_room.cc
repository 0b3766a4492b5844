#include "command/run/job_room.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/readable.h"
#include "base/threads.h"
#include "job/strategies.h"
#include "plan/server_plan.h"
#include "plan/shortfall.h"
#include "plan/stage_plan.h"

namespace atl {
namespace {

/// Of resources.memory, and of this machine.
std::vector<Shortfall> shortfalls(const LoadedJob& loaded, const JobPlan& plan, bool here) {
  std::vector<Shortfall> all;
  if (auto of_resources = shortfall_of_resources(plan, loaded.job)) {
    of_resources->text =
        fmt::format("{}: {}", where_of(loaded.given, "resources.memory"), of_resources->text);
    all.push_back(*of_resources);
  }
  if (here)
    if (const auto machine = shortfall_here(plan, memory_room())) all.push_back(*machine);
  if (!plan.servers.empty())  // what they hold beside their own vertices is a choice
    for (Shortfall& each : all)
      each.text += "; or smaller strategy.granndis.hops, maxHop or fanout, or more batches";
  return all;
}

}  // namespace

JobPlan memory_plan(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads) {
  constexpr MachineRates kNoRates{1, 1, 1};
  return plan_job(job, dataset, prepared, {threads, kNoRates, 1});
}

void check_memory(const LoadedJob& loaded, const JobPlan& plan, bool here, Say say) {
  for (const Shortfall& each : shortfalls(loaded, plan, here)) {
    if (each.certain) fail("{}; `atoll plan` shows what takes it", each.text);
    say("warning: " + each.text);
  }
}

void warn_of_memory(const LoadedJob& loaded, const JobPlan& plan, Say say) {
  for (const Shortfall& each : shortfalls(loaded, plan, true)) say("warning: " + each.text);
}

void say_what_servers_hold(const JobPlan& plan, Say say) {
  for (std::size_t i = 0; i < plan.servers.size(); ++i) say(line_of(plan.servers[i], int(i)));
}

void say_evaluations(const JobPlan& plan, const Job& job, Say say) {
  const std::string told = plan.columns ? costly_evaluations(plan, job) : "";
  if (!told.empty()) say("warning: " + told);
}

void say_stages(const JobPlan& plan, const Job& job, Say say) {
  if (plan.stages.empty()) return;
  say(line_of(plan.stages, job));
  if (const std::string stall = stall_text(plan); !stall.empty()) say("warning: " + stall);
}

void check_processors(const Job& job, int threads, Say say) {
  const int ranks = job.placement.ranks, cores = available_cores();
  if (ranks * threads <= cores) return;
  const std::string processors = counted_text(cores, "processor"), of_ranks = counted_text(ranks, "rank");
  if (threads == 1) {
    say(fmt::format("warning: {} share {} and take turns: an epoch takes longer than with {}", of_ranks,
                    processors, cores == 1 ? "one rank" : fmt::format("{} ranks", cores)));
    return;
  }
  say(fmt::format(
      "warning: {} of {} threads each share {}: in every step a thread waits for others that don't run, and an epoch "
      "can take a hundred times as long; use --threads {}",
      of_ranks, threads, processors, std::max(1, cores / ranks)));
}

}  // namespace atl
