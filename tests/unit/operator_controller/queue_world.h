// The world with one of Kueue's queues in it, and jobs that name the queue.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "operator_controller/fake_kueue.h"
#include "operator_controller/world.h"

namespace atl::ctl {

extern const json kFlavor;

struct QueueWorld : World {
  FakeKueue kueue{cluster};

  QueueWorld();
};

json queued_job(Changes changes = {});

/// All of whose ranks must, or should, be in one rack.
json job_in_one_rack(const char* policy = "Required");

/// Runs the life undisturbed, then once for each write after which the operator can die.
void live_queued(const std::function<void(QueueWorld&)>& life);

/// The job's condition; an empty one where it has none of that type.
Condition condition(World& world, const char* type, const std::string& job = "cora");

}  // namespace atl::ctl
