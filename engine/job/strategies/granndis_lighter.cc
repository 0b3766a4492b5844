// What strategy `granndis` proposes where servers hold too much: fewer layers that read copies, a smaller sample of them, or batches.
#include <fmt/format.h>

#include "job/strategies/granndis.h"

namespace atl {
namespace {

Job with_copies(Job job, int max_hop, std::int64_t fanout) {
  if (fanout < 0) job.strategy.options.set("redraw", std::string("once"));
  job.strategy.options.set("maxHop", std::int64_t(max_hop));
  job.strategy.options.set("fanout", fanout);
  return job;
}

/// The largest fanout of copies so far away that fits, below one that doesn't (−1: all); 0: none. More copies of a draw are those of a
/// smaller one and others, so that what fits is found by halving.
std::int64_t largest_fanout(const Job& job, int max_hop, std::int64_t too_many,
                            FunctionRef<bool(const Job&)> fits) {
  constexpr std::int64_t kMost = 1'000'000;  // that a manifest may ask for
  const auto holds = [&](std::int64_t fanout) { return fits(with_copies(job, max_hop, fanout)); };
  if (too_many == 1 || !holds(1)) return 0;
  std::int64_t low = 1, high = too_many;
  while (high < 0 && 2 * low <= kMost) {
    if (holds(2 * low))
      low *= 2;
    else
      high = 2 * low;
  }
  if (high < 0) return low;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

/// Copies from less far away, or fewer of them.
std::string smaller_sample(const Job& job, const Expansion& given, FunctionRef<bool(const Job&)> fits) {
  for (int max_hop = given.max_hop; max_hop >= 1; --max_hop) {
    const bool as_many = max_hop < given.max_hop && fits(with_copies(job, max_hop, given.fanout));
    const std::int64_t fanout = as_many ? given.fanout : largest_fanout(job, max_hop, given.fanout, fits);
    if (fanout != 0) return fmt::format("{{maxHop: {}, fanout: {}}}", max_hop, fanout);
  }
  return "";
}

/// Where servers hold all that they depend on, and only there, fewer layers that read copies change no result.
std::string fewer_hops(const Job& job, const Expansion& given, FunctionRef<bool(const Job&)> fits) {
  for (int hops = given.hops - 1; given.is_exact && hops >= 1; --hops) {
    Job other = job;
    other.strategy.options.set("hops", std::int64_t(hops));
    if (fits(other)) return fmt::format("{{hops: {}, maxHop: 0, fanout: -1}}", hops);
  }
  return "";
}

constexpr int kMostBatches = 64, kMostProposed = 16;  // that are tried, of which each is a plan

Job in_batches(Job job, int batches) {
  job.strategy.options.set("batches", std::int64_t(batches));
  return job;
}

/// Of what servers hold at a time.
std::string more_batches(const Job& job, const Expansion& given, FunctionRef<bool(const Job&)> fits) {
  for (int batches = 2 * given.batches; given.beyond == 0 && batches <= kMostProposed; batches *= 2)
    if (fits(in_batches(job, batches))) return fmt::format("{{batches: {}}}", batches);
  return "";
}

MemoryBudget::Way way_of(const Job& job, Recompute recompute, int batches) {
  MemoryBudget::Way way{in_batches(job, batches),
                        fmt::format("training.recompute: {} and strategy.granndis.batches: {}",
                                    recompute == Recompute::kLayer ? "layer" : "none", batches)};
  way.job.training.recompute = recompute;
  return way;
}

}  // namespace

std::string fewer_copies(const Job& job, FunctionRef<bool(const Job&)> fits) {
  const Expansion given = expansion_of(job);
  std::string all;
  for (const std::string& each :
       {fewer_hops(job, given, fits), smaller_sample(job, given, fits), more_batches(job, given, fits)})
    if (!each.empty()) all += (all.empty() ? "strategy.granndis: " : " or ") + each;
  return all;
}

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
