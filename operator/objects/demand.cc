#include "operator/objects/demand.h"

#include <algorithm>

#include "operator/api/pod.h"
#include "operator/objects/objects.h"

namespace atl::ctl {

void count_pods(const GnnJob& job, const Settings& settings, Gang& gang) {
  const auto largest = std::ranges::max_element(gang.servers, {}, &std::vector<Rank>::size);
  gang.server.at_least(read_pod(worker_pod(job, settings, 0, *largest, 0)).requests);
  gang.launcher.at_least(read_pod(launcher_pod(job, settings, 1)).requests);
}

}  // namespace atl::ctl
