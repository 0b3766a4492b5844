// A guard against endless repetition. Deciding the same again and again means that carrying it out doesn't
// change what the decision rests on: the server stores a status differently, or somebody removes an object at
// once. After the third time in a row the job waits, longer each time.
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

  /// How long to wait before carrying this out: 0 unless it was carried out three times in a row.
  kube::Milliseconds wait(const std::string& job, const Decision& decision) const;
  /// Whether the job's last decision must wait, if it is the next one as well.
  bool holds_back(const std::string& job) const;
  /// The decision was carried out in full.
  void done(const std::string& job, const Decision& decision);
  void forget(const std::string& job);
  std::size_t size() const;

 private:
  struct Last {
    std::size_t digest = 0;
    int times = 0;
    kube::Clock::Time at{};
  };

  static kube::Clock::Time end_of_wait(const Last& last);

  kube::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Last> last_;  // by job
};

}  // namespace atl::ctl
