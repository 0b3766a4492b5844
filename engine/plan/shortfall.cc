// Whether a job's ranks will have the memory that they are planned to hold, and what would help if not.
#include "plan/job_plan.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "job/strategies.h"

namespace atl {
namespace {

constexpr double kExactness = 0.9;  // a rank comes to hold at least this share of its planned memory

/// Bytes of host memory that the rank holds.
double held(const RankPlan& rank, bool on_gpus) {
  return double(on_gpus ? rank.memory.beside_gpu : rank.memory.held());
}

double held_by(const JobPlan& plan, const std::vector<Rank>& ranks, bool on_gpus) {
  double sum = 0;
  for (const Rank rank : ranks) sum += held(plan.ranks[std::size_t(rank)], on_gpus);
  return sum;
}

/// Whether most of what is needed is held by every rank, so that more ranks don't help.
bool is_replicated(const JobPlan& plan) {
  double replicated = 0, all = 0;
  for (const RankPlan& rank : plan.ranks) {
    replicated += double(rank.memory.replicated());
    all += double(rank.memory.held());
  }
  return replicated > all / 2;
}

std::string remedy(const JobPlan& plan, bool on_gpus) {
  if (on_gpus)
    return "the host keeps the graph and the features that its GPUs get: use more ranks on more machines (--hosts, or a cluster)";
  if (is_replicated(plan)) {
    return fmt::format(
        "{} of it on each rank are weights with their gradients and moments, which every rank holds whole: more ranks "
        "don't help, a smaller model.hidden or fewer model.layers do",
        bytes_text(double(plan.ranks.front().memory.replicated())));
  }
  return "use more ranks on more machines (--hosts, or a cluster), training.recompute: layer, a smaller model.hidden, or "
         "fewer model.layers";
}

}  // namespace

std::optional<Shortfall> shortfall_here(const JobPlan& plan, const MemoryRoom& room, bool on_gpus) {
  double needed = 0;
  for (const RankPlan& rank : plan.ranks) needed += held(rank, on_gpus);
  if (room.total == 0 || needed <= room.available) return {};
  const bool certain = plan.from != PlannedFrom::kAssumedParts && kExactness * needed > room.total;
  const std::string ranks = plan.ranks.size() == 1
                                ? "its rank needs"
                                : fmt::format("its {} ranks together need", plan.ranks.size());
  const std::string there = fmt::format(
      "{} {}", room.limited ? "the control group allows" : "this machine has", bytes_text(room.total));
  return Shortfall{
      certain,
      fmt::format("memory: the job {}: {} {}, {}{}; {}", certain ? "does not fit" : "may not fit", ranks,
                  bytes_text(needed), there,
                  certain ? "" : fmt::format(", of which {} are free now", bytes_text(room.available)),
                  remedy(plan, on_gpus)),
      needed};
}

std::optional<Shortfall> shortfall_of_resources(const JobPlan& plan, const Job& job, bool on_gpus) {
  const double given = double(job.resources.memory);
  if (given == 0) return {};
  std::optional<Shortfall> worst;
  double most = given;
  for (const std::vector<Rank>& ranks : job.strategy.row->layout(job).groups) {
    const double needed = held_by(plan, ranks, on_gpus) / double(ranks.size());
    if (needed <= most) continue;
    most = needed;
    worst = Shortfall{
        plan.from != PlannedFrom::kAssumedParts && kExactness * needed > given,
        fmt::format("resources.memory: {} is too little: rank{} {} need{} {}{} (use {}Mi or more); {}",
                    bytes_text(given), ranks.size() == 1 ? "" : "s", joined(ranks, ", "),
                    ranks.size() == 1 ? "s" : "", bytes_text(needed), ranks.size() == 1 ? "" : " each",
                    std::int64_t(std::ceil(needed / kExactness / 0x1p20)), remedy(plan, on_gpus)),
        needed};
  }
  return worst;
}

}  // namespace atl
