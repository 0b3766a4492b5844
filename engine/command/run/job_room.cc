#include "command/run/job_room.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "job/strategies.h"
#include "plan/job_plan.h"
#include "plan/rank_shape.h"
#include "plan/strategy_plan.h"
#include "tensor/backend.h"
#include "train/rank_data.h"
#include "train/rank_device.h"

namespace atl {
namespace {

/// The shortfalls of resources.memory, and those of this machine.
std::vector<Shortfall> shortfalls(const LoadedJob& loaded, const JobPlan& plan, bool here, bool on_gpus) {
  std::vector<Shortfall> all;
  if (auto of_resources = shortfall_of_resources(plan, loaded.job, on_gpus)) {
    of_resources->text =
        fmt::format("{}: {}", where_of(loaded.given, "resources.memory"), of_resources->text);
    all.push_back(*of_resources);
  }
  if (here)
    if (const auto machine = shortfall_here(plan, memory_room(), on_gpus)) all.push_back(*machine);
  if (plan.section)
    for (Shortfall& each : all) each.text += plan.section->memory_advice();
  return all;
}

}  // namespace

JobPlan memory_plan(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads) {
  constexpr MachineRates kNoRates{1, 1, 1};
  return plan_job(job, dataset, prepared, {threads, kNoRates, 1});
}

TrainsOn trains_on(const Arguments& a, const Job& job) {
  if (job.resources.gpus > 0 && !a.has("--device")) return TrainsOn::kGpus;
  switch (device_choice(a.get("--device", "auto"))) {
    case DeviceChoice::kCpu:
      break;
    case DeviceChoice::kCuda:
      return TrainsOn::kGpus;
    case DeviceChoice::kAuto:
      return has_backend() ? TrainsOn::kEither : TrainsOn::kCpus;
  }
  return TrainsOn::kCpus;
}

void check_memory(const LoadedJob& loaded, const JobPlan& plan, bool here, TrainsOn on, Say say) {
  const bool either = on == TrainsOn::kEither;
  for (const Shortfall& each : shortfalls(loaded, plan, here, on != TrainsOn::kCpus)) {
    if (each.certain) fail("{}; `atoll plan` shows what takes it", each.text);
    if (!either) say("warning: " + each.text);
  }
  if (!either) return;
  for (const Shortfall& each : shortfalls(loaded, plan, here, false))
    say("warning: " + each.text + "; that is on CPUs: with GPUs the host holds less");
}

void warn_of_memory(const LoadedJob& loaded, const JobPlan& plan, TrainsOn on, Say say) {
  for (const Shortfall& each : shortfalls(loaded, plan, true, on == TrainsOn::kGpus))
    say("warning: " + each.text);
}

void say_section(const JobPlan& plan, const Job& job, Say say) {
  if (!plan.section) return;
  for (const std::string& line : plan.section->lines(plan, job)) say(line);
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

namespace {

/// The memory budget of a job. `given`: the fields that the job doesn't leave open.
MemoryBudget budget_of(const Job& job, const Given& given) {
  const StrategyInfo& strategy = *job.strategy.row;
  return strategy.memory_budget == nullptr ? MemoryBudget{} : strategy.memory_budget(job, given);
}

/// The planned peak of the rank that needs most memory.
Index peak_of(const JobPlan& plan) {
  Index most = 0;
  for (const RankPlan& rank : plan.ranks) most = std::max(most, rank.memory.peak());
  return most;
}

struct Planned {
  LoadedJob loaded;
  Index peak = 0;
  std::string fields;
};

[[noreturn]] void refuse(const LoadedJob& loaded, const MemoryBudget& budget, const Planned& least) {
  fail(
      "{}: {}: {} a rank is too little: the least that the plan finds is {}, with {} (use {}Mi or more, more ranks, a smaller "
      "model.hidden, or fewer model.layers)",
      where_of(loaded.given, budget.path), budget.path, bytes_text(double(budget.bytes)),
      bytes_text(double(least.peak)), least.fields, std::int64_t(std::ceil(double(least.peak) / 0x1p20)));
}

/// The first of the budget's ways whose plan fits. Ways that the graph can't be cut for are skipped. The
/// first way is the manifest's own, which has been checked already, or is refused by its plan.
Planned choose(const LoadedJob& loaded, const MemoryBudget& budget, const Dataset& dataset, int threads,
               Say say) {
  std::optional<Planned> least;
  Index most_batches = 0;  // the most batches that a server's training vertices allow
  for (const MemoryBudget::Way& way : budget.ways) {
    const PartitionOptions cut = partition_options(way.job, way.job.placement.ranks);
    const bool has_batches = !least || server_batches_of(way.job) <= std::max<Index>(most_batches, 1);
    if (Index(cut.parts) * cut.slices > dataset.meta().vertices || !has_batches) continue;
    Planned choice{loaded, 0, way.fields};
    choice.loaded.job = way.job;
    const JobPlan plan = memory_plan(way.job, dataset, prepare_graph(choice.loaded, dataset, say), threads);
    most_batches = plan.most_batches;
    choice.peak = peak_of(plan);
    if (choice.peak <= budget.bytes) return choice;
    if (!least || choice.peak < least->peak) least = choice;
  }
  refuse(loaded, budget, *least);
}

}  // namespace

LoadedJob within_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say) {
  const MemoryBudget budget = budget_of(loaded.job, loaded.given);
  if (budget.bytes == 0) return loaded;
  Planned chosen = choose(loaded, budget, dataset, threads, say);
  say(fmt::format("{} of {}: {} a rank at most, with {}", budget.path, bytes_text(double(budget.bytes)),
                  bytes_text(double(chosen.peak)), chosen.fields));
  return std::move(chosen.loaded);
}

/// Counts no field as given, because the API server fills in defaults.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say) {
  const MemoryBudget budget = budget_of(loaded.job, {});
  if (budget.bytes == 0) return;
  const Planned chosen = choose(loaded, budget, dataset, threads, say);
  if (chosen.fields == budget.ways.front().fields) return;
  fail("{}: {}: {} a rank is too little as the job is; on a cluster nothing is chosen for it (use {})",
       where_of(loaded.given, budget.path), budget.path, bytes_text(double(budget.bytes)), chosen.fields);
}

}  // namespace atl
