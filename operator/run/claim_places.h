// Where the volumes of claims can be used, asked of the API server when a gang is to be placed and remembered for a little
// while: who waits for room asks often, and what a claim is bound to doesn't change while it is there.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "operator/api/moment.h"
#include "operator/kube/client.h"
#include "operator/plan/volumes.h"

namespace atl::ctl {

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

}  // namespace atl::ctl
