#include "operator/objects/pod_sizing.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

constexpr const char *kWhenResumed = "it is chosen when the job is resumed",
                     *kNoNodes =
                         "no nodes could hold all ranks, even if they were empty; until some could, "
                         "each rank has a pod of its own";

/// The gangs that the job's ranks could form, one for each number of ranks in a pod. They are made without
/// reading a manifest for each: a job that waits for its first nodes is looked at again and again, and some
/// numbers have dozens of divisors.
std::vector<Gang> ways(GnnJob sized, const Settings& settings, const std::vector<int>& sizes) {
  std::vector<Gang> gangs;
  sized.status.keys = kNoKeysYet;  // the pods' requests don't depend on the keys
  for (const int ranks : sizes) {
    sized.job->placement.ranks_per_server = ranks;
    Gang& gang = gangs.emplace_back(gang_of(*sized.job, std::vector<PairBytes>{}, settings.gpu_resource));
    count_pods(sized, settings, gang);
    if (sized.job->placement.policy == PlacementPolicy::kPreferred) gang.within = -1;
  }
  return gangs;
}

/// Whether the job's strategy allows pods of `ranks` ranks.
bool is_allowed(GnnJob given, int ranks) {
  try {
    set_pod_size(given, ranks);
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::optional<PodSize> largest_allowed(const GnnJob& given, std::vector<Gang> gangs,
                                       const LargestPods& largest) {
  std::optional<PodSize> size = largest(gangs);
  while (size && !is_allowed(given, size->ranks)) {
    std::erase_if(gangs, [&](const Gang& gang) { return int(gang.servers[0].size()) == size->ranks; });
    size = largest(gangs);
  }
  return size;
}

}  // namespace

bool is_pod_size_open(const GnnJob& job, bool is_new) {
  const PodSize& chosen = job.status.pod_size;
  if (chosen.ranks == 0) return is_new || !chosen.reason.empty();
  return job.made_of.manifest != job.status.made_of.manifest;  // the user asks for something else now
}

bool could_hold_chosen(const GnnJob& job, const Settings& settings, const LargestPods& largest) {
  return largest(ways(job, settings, {job.status.pod_size.ranks})).has_value();
}

PodSizing pod_sizing(const GnnJob& job, const Settings& settings, const LargestPods& largest) {
  GnnJob given = job;
  if (job.has_chosen_pod_size) set_pod_size(given, 0);
  PodSize size;
  if (leaves_pod_size_open(*given.job, settings.gpu_resource)) {
    if (given.job->run_policy.suspend)
      size.reason = kWhenResumed;
    else
      size = largest_allowed(given, ways(given, settings, pod_sizes(given.job->placement.ranks)), largest)
                 .value_or(PodSize{0, kNoNodes});
  }
  const int before = job.has_chosen_pod_size ? job.status.pod_size.ranks : 1, now = std::max(size.ranks, 1);
  if (now == before) return {std::move(size), job.made_of, false};
  if (now > 1) set_pod_size(given, now);
  given.made_of.image = job.made_of.image;
  return {std::move(size), given.made_of, true};
}

}  // namespace atl::ctl
