// Carries out a decision. The status is written first, then the stages one after the other; the writes of one
// stage go out at once. The job isn't decided on again until the caches show what was written.
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
  kRejected,    // a write is refused or blocked by a foreign object: see the feedback
  kUnanswered,  // no answer, or one that may differ the next time
};

/// The outcome in the metrics and the log.
const char* word_for(Outcome outcome);

struct WriteResult {
  Outcome outcome = Outcome::kDone;
  std::string problem;  // the problem of the worst write
  WriteFeedback feedback;
  /// Pods that keep their places: they exist, may exist, or have their node in the status.
  std::set<std::string> pods;
  /// The longest time for which the API server asks us to wait, among all writes; 0: it doesn't ask.
  kube::Milliseconds retry_after{0};
};

/// How often a request of a writing thread is sent again. A thread that slept as long as an overloaded server
/// asks would hold up all other jobs. So a job that must wait longer waits in the queue.
inline constexpr kube::RetryRule kWorkersRetry{.times = 2,
                                               .backoff = {kube::Milliseconds(100), kube::Milliseconds(1000)},
                                               .patience = kube::Milliseconds(1000)};

/// What writing needs. All references must outlive it.
struct WriteContext {
  kube::Client& client;
  kube::Expectations& expectations;
  const Caches& caches;
  std::function<bool()> may_write;  // false: another replica may lead by now
  int writes_at_once = 16;
};

/// These write the job's status and carry out a decision's stages. They read only the names and versions of
/// the job and its pods from `seen`.
WriteResult write_new_status(const WriteContext& context, const Observed& seen, const Status& status);
WriteResult write_stages(const WriteContext& context, const Observed& seen, const Decision& decision);

}  // namespace atl::ctl
