// A job at one point of its life, for tests that make one decision about it.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "operator/controller/decide.h"
#include "operator_controller/world.h"

namespace atl::ctl {

/// "create cora-prepare", in order.
inline std::vector<std::string> writes(const Decision& decision) {
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

inline Condition condition(const Decision& decision, const char* type) {
  if (!decision.status) return {};
  const Condition* found = find_condition(decision.status->conditions, type);
  return found ? *found : Condition{};
}

class Decide : public testing::Test {
 protected:
  World world;

  void submit(Changes changes = {}) { world.atoll.submit(sample_job_json(changes)); }
  void train(Changes changes = {}) {
    submit(changes);
    world.until_training();
  }
  void until_placed() {
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
  }
  Decision decide_on(const std::function<void(Observed&)>& change = [](Observed&) {}) {
    Observed seen = world.atoll.observe("cora");
    change(seen);
    return world.atoll.decide_on(seen);
  }
  PodView& pod(Observed& seen, const std::string& name) {
    for (PodView& pod : seen.pods)
      if (pod.meta.name == name) return pod;
    ADD_FAILURE() << name;
    return seen.pods.front();
  }
  std::string node_of_pod(const std::string& name) { return node_of(world.cluster.pods.at(name)); }
};

}  // namespace atl::ctl
