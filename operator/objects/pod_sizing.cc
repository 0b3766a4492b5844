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

/// The gangs that the job's ranks could be, the largest pods first; without those that a rule of its strategy
/// refuses.
std::vector<Gang> ways(const GnnJob& given, const Settings& settings) {
  std::vector<Gang> gangs;
  for (const int ranks : pod_sizes(given.job->placement.ranks)) {
    GnnJob sized = given;
    try {
      set_pod_size(sized, ranks);
    } catch (const Error&) {
      continue;
    }
    sized.status.keys = kNoKeysYet;  // what pods ask for doesn't depend on them
    Gang& gang = gangs.emplace_back(gang_of(*sized.job, std::vector<PairBytes>{}, settings.gpu_resource));
    count_pods(sized, settings, gang);
    if (sized.job->placement.policy == PlacementPolicy::kPreferred) gang.within = -1;
  }
  return gangs;
}

}  // namespace

bool is_pod_size_open(const GnnJob& job, bool is_new) {
  const PodSize& chosen = job.status.pod_size;
  if (chosen.ranks == 0) return is_new || !chosen.reason.empty();
  return job.made_of.manifest != job.status.made_of.manifest;  // somebody asks for something else
}

PodSizing pod_sizing(const GnnJob& job, const Settings& settings,
                     const std::function<std::optional<PodSize>(std::vector<Gang>)>& largest) {
  GnnJob given = job;
  if (job.has_chosen_pod_size) set_pod_size(given, 0);
  PodSize size;
  if (leaves_pod_size_open(*given.job, settings.gpu_resource)) {
    if (given.job->run_policy.suspend)
      size.reason = kWhenResumed;
    else
      size = largest(ways(given, settings)).value_or(PodSize{0, kNoNodes});
  }
  const int before = job.has_chosen_pod_size ? job.status.pod_size.ranks : 1, now = std::max(size.ranks, 1);
  if (now == before) return {std::move(size), job.made_of, false};
  if (now > 1) set_pod_size(given, now);
  given.made_of.image = job.made_of.image;
  return {std::move(size), given.made_of, true};
}

}  // namespace atl::ctl
