// What we have asked of the API for an owner (a job) and not yet seen in our caches. While anything is
// outstanding the caches are behind, and acting on them would do it twice.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "operator/kube/clock.h"

namespace atl::kube {

/// Any thread may call any of it.
class Expectations {
 public:
  explicit Expectations(Clock& clock = steady_clock(), Milliseconds patience = Milliseconds(300'000))
      : clock_(clock), patience_(patience) {}

  /// Called before the request, because its event may come before its answer. `name`: of the object to make,
  /// or the UID of the object to delete; the event names the same.
  void expect(const std::string& owner, const std::string& name);
  /// The event has come, or the request has failed.
  void seen(const std::string& owner, const std::string& name);
  /// Whether nothing is outstanding, or it has been for so long that its event must have been missed.
  bool are_met(const std::string& owner);
  /// The owner is gone.
  void forget(const std::string& owner);
  /// Owners of which something is outstanding.
  std::size_t size() const;

 private:
  struct Outstanding {
    std::set<std::string> names;
    Clock::Time since;
  };

  Clock& clock_;
  const Milliseconds patience_;
  mutable std::mutex mutex_;
  std::map<std::string, Outstanding> owners_;  // every one has outstanding names
};

}  // namespace atl::kube
