// Carries out a decision: the status first, then its stages one after the other, the writes of each stage at
// once. The caches are expected to show what was asked for, and until they do, the job isn't decided on
// again.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/kube/work_queue.h"
#include "operator/run/caches.h"
#include "operator/run/feedback.h"

namespace atl::ctl {

enum class Outcome {
  kDone,        // the caches will show the rest
  kConflict,    // the decision was made on an outdated state: look again
  kRejected,    // the API server refuses a write, or somebody else's is in the way: see the feedback
  kUnanswered,  // no answer, or one that may differ the next time
};

/// The outcome in the metrics and the log.
const char* word_for(Outcome outcome);

struct WriteResult {
  Outcome outcome = Outcome::kDone;
  std::string problem;  // of the worst write
  WriteFeedback feedback;
  /// Pods that keep their places: they exist, may exist, or have their node in the status.
  std::set<std::string> pods;
  /// How long the API server asks to be left alone, the longest of all writes; 0: it doesn't say.
  kube::Milliseconds retry_after{0};
};

/// How often a worker's request is sent again. A worker that slept for as long as an overloaded server asks
/// would hold up all other jobs, so a job that must wait longer waits in the queue.
inline constexpr kube::RetryRule kWorkersRetry{.times = 2,
                                               .backoff = {kube::Milliseconds(100), kube::Milliseconds(1000)},
                                               .patience = kube::Milliseconds(1000)};

/// What writing needs; all references must outlive it.
struct WriteContext {
  kube::Client& client;
  kube::Expectations& expectations;
  const Caches& caches;
  std::function<bool()> may_write;  // false: another replica may lead by now
  int writes_at_once = 16;
};

/// Write the job's status, and carry out a decision's stages. They read of `seen` only the names and versions
/// of the job and its pods.
WriteResult write_new_status(const WriteContext& context, const Observed& seen, const Status& status);
WriteResult write_stages(const WriteContext& context, const Observed& seen, const Decision& decision);

}  // namespace atl::ctl
