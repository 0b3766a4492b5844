#include "command/run/memory_budget.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/readable.h"
#include "command/run/job_room.h"
#include "job/strategies.h"
#include "plan/server_plan.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// `given`: what it doesn't leave open.
MemoryBudget budget_of(const Job& job, const Given& given) {
  const StrategyInfo& strategy = *find_strategy(job.strategy.kind);
  return strategy.memory_budget == nullptr ? MemoryBudget{} : strategy.memory_budget(job, given);
}

/// Of the rank that needs most.
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

/// The first of a budget's ways that fits. What the graph can't be cut into is no way: the first one is the manifest's own, and has been
/// checked or is refused by its plan.
Planned choose(const LoadedJob& loaded, const MemoryBudget& budget, const Dataset& dataset, int threads,
               Say say) {
  std::optional<Planned> least;
  Index most_batches = 0;  // which a server's training vertices allow
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

/// The API server fills defaults in: what was given isn't known.
void check_budget(const LoadedJob& loaded, const Dataset& dataset, int threads, Say say) {
  const MemoryBudget budget = budget_of(loaded.job, {});
  if (budget.bytes == 0) return;
  const Planned chosen = choose(loaded, budget, dataset, threads, say);
  if (chosen.fields == budget.ways.front().fields) return;
  fail("{}: {}: {} a rank is too little as the job is; on a cluster nothing is chosen for it (use {})",
       where_of(loaded.given, budget.path), budget.path, bytes_text(double(budget.bytes)), chosen.fields);
}

}  // namespace atl
