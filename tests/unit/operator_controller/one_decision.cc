#include "operator_controller/one_decision.h"

namespace atl::ctl {

std::vector<std::string> writes(const Decision& decision) {
  std::vector<std::string> all;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage) {
      const char* verb = write.verb == Write::Verb::kCreate  ? "create "
                         : write.verb == Write::Verb::kPatch ? "patch "
                                                             : "delete ";
      all.push_back(verb + write.name);
    }
  return all;
}

Condition condition(const Decision& decision, const char* type) {
  if (!decision.status) return {};
  const Condition* found = find_condition(decision.status->conditions, type);
  return found ? *found : Condition{};
}

void Decide::train(Changes changes) {
  submit(changes);
  world.until_training();
}

void Decide::until_placed() {
  world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
}

Decision Decide::decide_on(const std::function<void(Observed&)>& change) {
  Observed seen = world.atoll.observe("cora");
  change(seen);
  return world.atoll.decide_on(seen);
}

PodView& Decide::pod(Observed& seen, const std::string& name) {
  for (PodView& pod : seen.pods)
    if (pod.meta.name == name) return pod;
  ADD_FAILURE() << name;
  return seen.pods.front();
}

}  // namespace atl::ctl
