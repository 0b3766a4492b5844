// How a pipeline takes less memory. Recomputing costs a third more work and learns the same; more chunks are fresh less often, and
// their products are smaller: they come last.
#include "strategies/gnnpipe/info.h"

namespace atl {
namespace {

constexpr int kDoublings = 3;  // of the chunks; what remains by then is of all chunks together

MemoryBudget::Way way_of(const Job& job, Recompute recompute, int chunks) {
  MemoryBudget::Way way{job, fmt::format("training.recompute: {} and strategy.gnnpipe.chunks: {}",
                                         recompute == Recompute::kLayer ? "layer" : "none", chunks)};
  way.job.training.recompute = recompute;
  way.job.strategy.options.set("chunks", std::int64_t(chunks));
  return way;
}

}  // namespace

MemoryBudget pipeline_budget(const Job& job, const Given& given) {
  MemoryBudget budget{"strategy.gnnpipe.memoryBudget", job.strategy.options.integer("memoryBudget")};
  const int chunks = pipeline_chunks(job);
  Recompute recompute = job.training.recompute;
  budget.ways.push_back(way_of(job, recompute, chunks));
  if (recompute == Recompute::kNone && !given.contains("training.recompute"))
    budget.ways.push_back(way_of(job, recompute = Recompute::kLayer, chunks));
  const bool cuts = job.strategy.options.integer("chunks") == 0;
  for (int d = 1; cuts && d <= kDoublings; ++d) budget.ways.push_back(way_of(job, recompute, chunks << d));
  return budget;
}

}  // namespace atl
