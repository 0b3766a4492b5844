// A guard against doing the same for ever. Whoever decides what was done a moment ago, and again, decides on
// something that doing it doesn't change: a status that the server keeps otherwise than it was sent, an
// object that somebody takes away at once. After the third time in a row it waits, longer each time.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/clock.h"

namespace atl::ctl {

/// Thread-safe.
class Repeats {
 public:
  /// The clock must outlive it.
  explicit Repeats(kube::Clock& clock) : clock_(clock) {}

  /// For how long this must not be done yet: 0 unless it was done three times in a row.
  kube::Milliseconds wait(const std::string& job, const Decision& decision) const;
  /// All of it was done.
  void done(const std::string& job, const Decision& decision);
  void forget(const std::string& job);

 private:
  struct Last {
    std::size_t digest = 0;
    int times = 0;
    kube::Clock::Time at{};
  };

  kube::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Last> last_;  // by job
};

}  // namespace atl::ctl
