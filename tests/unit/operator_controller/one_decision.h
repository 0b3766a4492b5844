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
std::vector<std::string> writes(const Decision& decision);

/// The condition that the decision writes; an empty one where it writes none of that type.
Condition condition(const Decision& decision, const char* type);

class Decide : public testing::Test {
 protected:
  World world;

  void submit(Changes changes = {}) { world.atoll.submit(sample_job_json(changes)); }
  void train(Changes changes = {});
  void until_placed();
  Decision decide_on(const std::function<void(Observed&)>& change = [](Observed&) {});
  PodView& pod(Observed& seen, const std::string& name);
  std::string node_of_pod(const std::string& name) { return node_of(world.cluster.pods.at(name)); }
};

}  // namespace atl::ctl
