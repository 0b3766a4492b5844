// What the controller tells Prometheus of the moment: its jobs by state, and how many wait for it.
#include <map>

#include "operator/api/condition.h"
#include "operator/run/controller.h"

namespace atl::ctl {

std::string Controller::metrics_text() {
  std::map<std::string, int> states;
  for (const auto& job : caches_.jobs()) {
    const std::string state = state_of(job->status.conditions);
    ++states[state.empty() ? "New" : state];
  }
  around_.metrics.set_jobs(states);
  around_.metrics.set_depth(queue_.depth());
  return around_.metrics.text();
}

}  // namespace atl::ctl
