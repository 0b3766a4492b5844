// strategy.granndis.memoryBudget: recomputed layers, then batches of what servers hold.
#include <fmt/format.h>

#include "job/strategies/granndis.h"

namespace atl {
namespace {

constexpr int kMostBatches = 64;  // that are tried, of which each is a plan

Job in_batches(Job job, int batches) {
  job.strategy.options.set("batches", std::int64_t(batches));
  return job;
}

MemoryBudget::Way way_of(const Job& job, Recompute recompute, int batches) {
  MemoryBudget::Way way{in_batches(job, batches),
                        fmt::format("training.recompute: {} and strategy.granndis.batches: {}",
                                    recompute == Recompute::kLayer ? "layer" : "none", batches)};
  way.job.training.recompute = recompute;
  return way;
}

}  // namespace

/// Recomputing costs a third more work and learns the same; more batches are more steps: they come last.
MemoryBudget batches_budget(const Job& job, const Given& given) {
  MemoryBudget budget{"strategy.granndis.memoryBudget", job.strategy.options.integer("memoryBudget")};
  Recompute recompute = job.training.recompute;
  int batches = expansion_of(job).batches;
  budget.ways.push_back(way_of(job, recompute, batches));
  if (recompute == Recompute::kNone && !given.contains("training.recompute"))
    budget.ways.push_back(way_of(job, recompute = Recompute::kLayer, batches));
  if (given.contains("strategy.granndis.batches") || job.strategy.options.integer("hops") > 0) return budget;
  while ((batches *= 2) <= kMostBatches) budget.ways.push_back(way_of(job, recompute, batches));
  return budget;
}

}  // namespace atl
