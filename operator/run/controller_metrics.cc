// What the controller tells Prometheus of the moment: its jobs by state, how long they wait for room, and how many wait for it.
#include <algorithm>
#include <map>

#include "operator/api/condition.h"
#include "operator/run/controller.h"
#include "operator/run/precedence.h"

namespace atl::ctl {

std::string Controller::metrics_text() {
  std::map<std::string, int> states;
  std::map<std::string, double> waiting;
  for (const auto& job : caches_.jobs()) {
    const std::string state = state_of(job->status.conditions);
    ++states[state.empty() ? "New" : state];
    if (const auto since = waits_for_room_since(job->status)) {
      double& longest = waiting[job->meta.space];
      longest = std::max(longest, double((around_.now() - *since).count()));
    }
  }
  around_.metrics.set_jobs(states);
  around_.metrics.set_waiting(waiting);
  around_.metrics.set_depth(queue_.depth());
  return around_.metrics.text();
}

}  // namespace atl::ctl
