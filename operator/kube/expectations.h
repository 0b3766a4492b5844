// What we have asked of the API for an owner (a job) and not yet seen in our caches. While something is
// outstanding the caches are behind, and acting on them would do it twice.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "operator/kube/clock.h"

namespace atl::kube {

/// All of it may be called from any thread.
class Expectations {
 public:
  explicit Expectations(Clock& clock = steady_clock(), Milliseconds patience = Milliseconds(300'000))
      : clock_(clock), patience_(patience) {}

  /// Called before the request, because its event may come before its answer. `name` of what is made, or UID
  /// of what is deleted: anything that the event will name as well.
  void expect(const std::string& owner, const std::string& name);
  /// The event is here, or the request has failed.
  void seen(const std::string& owner, const std::string& name);
  /// Nothing is outstanding, or it has been for so long that its event was missed.
  bool are_met(const std::string& owner);
  /// The owner is gone.
  void forget(const std::string& owner);

 private:
  struct Outstanding {
    std::set<std::string> names;
    Clock::Time since;
  };

  Clock& clock_;
  const Milliseconds patience_;
  std::mutex mutex_;
  std::map<std::string, Outstanding> owners_;  // none without names
};

}  // namespace atl::kube
