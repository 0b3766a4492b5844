// Does what was decided: the status first, then one stage of writes after the other, each stage's at once.
// What is asked for is expected to show in the caches, and until it does the job isn't decided on again.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/kube/expectations.h"
#include "operator/run/caches.h"
#include "operator/run/feedback.h"

namespace atl::ctl {

enum class Outcome {
  kDone,        // the rest follows from what the caches will show
  kConflict,    // it was decided on what is no longer so: look again
  kRejected,    // the API server takes an object not, or somebody else's is in the way: see the feedback
  kUnanswered,  // no answer, or one that may be another the next time
};

struct WriteResult {
  Outcome outcome = Outcome::kDone;
  std::string problem;  // of the worst of its writes
  WriteFeedback feedback;
  /// That keep their places: they are there, may be there, or have their node in the status.
  std::set<std::string> pods;
};

/// What a deed works with; all must outlive it.
struct WriteContext {
  kube::Client& client;
  kube::Expectations& expectations;
  const Caches& caches;
  std::function<bool()> may_write;  // false: another replica may lead by now
  int writes_at_once = 16;
};

/// Write the job's status, and carry out a decision's stages. Of `seen` they read only the names and versions
/// of the job and of its pods.
WriteResult write_new_status(const WriteContext& context, const Observed& seen, const Status& status);
WriteResult write_stages(const WriteContext& context, const Observed& seen, const Decision& decision);

}  // namespace atl::ctl
