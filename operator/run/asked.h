// Questions to the API server about what no cache holds: where the volumes of claims can be used, and how it
// would judge an object.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/api/json_values.h"
#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/plan/volumes.h"

namespace atl::ctl {

// Where the volumes of claims can be used. Asked of the API server when a gang is to be placed, and
// remembered for a short time: a gang that waits for room asks often, and an existing claim's volume doesn't
// change.

/// Thread-safe.
class ClaimPlaces {
 public:
  /// `client` must outlive it.
  ClaimPlaces(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// Without a question; nothing where it takes one.
  std::optional<ClaimPlace> known(const std::string& space, const std::string& claim);
  /// Throws kube::TransportError where nobody answers.
  ClaimPlace of(const std::string& space, const std::string& claim);

  static constexpr Seconds kRemembered{30};

 private:
  struct Known {
    ClaimPlace place;
    Moment until{};
  };
  ClaimPlace ask(const std::string& space, const std::string& claim);

  kube::Client& client_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by "namespace/name"
};

// How the API server would judge an object. Asked by dry runs, which make nothing.

/// Trials of pods. One in which the server finds no fault stands for all that differ from it in names alone,
/// because jobs often come in numbers. Thread-safe.
class PodTrials {
 public:
  /// `client` must outlive it.
  PodTrials(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// What is wrong with the pod, in the server's words, or "". Refusals for quota or admission, and those
  /// that may end, aren't the pod's fault. Throws kube::TransportError where nobody answers.
  std::string fault_of(const std::string& pod, const std::string& space);

  static constexpr Seconds kRemembered{60};  // a cluster may be upgraded

 private:
  kube::Client& client_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, Moment> sound_;  // by digest of a pod without names: until when that is known
};

/// Finds out without the right to read: the Secret is gone if one of its name could be made, and exists if
/// the server says so. Nothing: the server says neither.
std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job);

// What queues have. Asked where a job's request depends on it, because the operator reads no queues else. A
// queue's flavors are kept, because each decision about each job that waits in it asks for them.

/// Thread-safe.
class QueueFlavors {
 public:
  /// `client` must outlive it.
  QueueFlavors(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// Without a question; nothing where it takes one.
  std::optional<QueueAnswer> known(const std::string& space, const std::string& queue);
  /// The ResourceFlavors of the ClusterQueue to which a LocalQueue leads. Throws kube::TransportError where
  /// nobody answers. An answer without flavors isn't kept: at any moment the queue may be made, or the
  /// operator be allowed to read it.
  QueueAnswer of(const std::string& space, const std::string& queue);

  static constexpr Seconds kRemembered{300};

 private:
  std::optional<std::set<std::string>> ask(const std::string& space, const std::string& queue);

  kube::Client& client_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, QueueAnswer> known_;  // by "namespace/name"
};

/// Who answers; references must outlive it.
struct Askers {
  kube::Client& client;
  PodTrials& trials;
  QueueFlavors& queues;
};

/// Answers a decision's questions, so that it can be made again. False where nobody answers for the log now.
/// Throws kube::TransportError where nobody answers at all.
bool answer(const Askers& askers, const Wants& wants, Observed& seen);

}  // namespace atl::ctl
