// What no cache holds, asked of the API server: where the volumes of claims can be used, and what it would
// say of an object.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/api/json_values.h"
#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/plan/volumes.h"

namespace atl::ctl {

// Where the volumes of claims can be used, asked of the API server when a gang is to be placed and remembered
// for a little while: who waits for room asks often, and what a claim is bound to doesn't change while it is
// there.

/// Thread-safe.
class ClaimPlaces {
 public:
  /// `client` must outlive it.
  ClaimPlaces(kube::Client& client, std::function<Moment()> now) : client_(client), now_(std::move(now)) {}

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

// What the API server would say of an object, asked by dry runs: nothing is made.

/// What is wrong with the pod, in the server's words, or "". What another pod may be refused for as well,
/// quota or admission, or another day, isn't its fault.
std::string fault_of(kube::Client& client, const std::string& pod, const std::string& space);

/// Tells without the right to read it: gone, if a Secret of that name could be made; there, if it exists
/// already. Nothing: the server says neither.
std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job);

/// The answers to what a decision wants to know, for it to be made again. False where nobody answers for the
/// log now. Throws kube::TransportError where nobody answers at all.
bool answer(kube::Client& client, const Wants& wants, Observed& seen);

}  // namespace atl::ctl
