// Questions to the API server about what no cache holds: on which nodes claimed volumes can be used, how the
// server would judge an object, and which flavors a queue has.
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

// On which nodes the volumes of claims can be used. The API server is asked when a gang is to be placed.
// Answers are kept for a short time, because a waiting gang asks often and the volume of an existing claim
// doesn't change.

/// Thread-safe.
class ClaimPlaces {
 public:
  /// `client` must outlive it.
  ClaimPlaces(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// The answer, if it is known without asking the server; nothing if it isn't.
  std::optional<ClaimPlace> known(const std::string& space, const std::string& claim);
  /// Asks the server if needed. Throws kube::TransportError if the server doesn't answer.
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

// How the API server would judge an object. It is asked by a dry run, which makes nothing.

/// Trials of pods. A trial without a fault also counts for all pods that differ only in names, because many
/// jobs are often alike. Thread-safe.
class PodTrials {
 public:
  /// `client` must outlive it.
  PodTrials(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// What is wrong with the pod, in the server's words, or "". Refusals for quota or admission, and those
  /// that may be temporary, aren't the pod's fault. Throws kube::TransportError if the server doesn't answer.
  std::string fault_of(const std::string& pod, const std::string& space);

  static constexpr Seconds kRemembered{60};  // not longer, because a cluster may be upgraded

 private:
  kube::Client& client_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, Moment> sound_;  // by digest of a sound pod: until when it counts as sound
};

/// Whether the Secret is gone, found out without the right to read it. A dry run tries to make one of that
/// name: if that works, the Secret is gone; if the server says that the name exists, it isn't. Nothing if the
/// server says neither.
std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job);

// Which flavors queues have. The operator doesn't watch queues, so it asks the server where a job's request
// depends on its queue. Answers are kept, because every decision about a job that waits in the queue needs
// them.

/// Thread-safe.
class QueueFlavors {
 public:
  /// `client` must outlive it.
  QueueFlavors(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

  /// The answer, if it is known without asking the server; nothing if it isn't.
  std::optional<QueueAnswer> known(const std::string& space, const std::string& queue);
  /// Asks for the ResourceFlavors of the ClusterQueue behind a LocalQueue. Throws kube::TransportError if the
  /// server doesn't answer. An answer without flavors isn't kept, because at any moment the queue may be
  /// made, or the operator be allowed to read it.
  QueueAnswer of(const std::string& space, const std::string& queue);

  static constexpr Seconds kRemembered{300};

 private:
  std::optional<std::set<std::string>> ask(const std::string& space, const std::string& queue);

  kube::Client& client_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, QueueAnswer> known_;  // by "namespace/name"
};

/// The sources of answers. References must outlive it.
struct Askers {
  kube::Client& client;
  PodTrials& trials;
  QueueFlavors& queues;
};

/// Answers a decision's questions, so that the decision can be made again. Returns false if the log can't be
/// had now. Throws kube::TransportError if the API server doesn't answer.
bool answer(const Askers& askers, const Wants& wants, Observed& seen);

}  // namespace atl::ctl
