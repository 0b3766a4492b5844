// Gangs that found no room, and the one of them for which room is kept: the first in order that has waited too long and
// could ever stand. Only one at a time, so that two can't wait for each other. Nothing of it has to be remembered: who
// waits, and since when, is in the jobs' statuses, and what a gang needs comes with its next plan.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "operator/plan/reservation.h"
#include "operator/run/precedence.h"

namespace atl::ctl {

/// Thread-safe.
class WaitingGangs {
 public:
  /// Room is kept for a gang that has waited for `patience`. `caches` must outlive it.
  WaitingGangs(const Caches& caches, Seconds patience, std::function<Moment()> now)
      : caches_(caches), patience_(patience), now_(std::move(now)) {}

  void put(const Gang& gang);
  /// It waits no more. True where room was kept for it.
  bool remove(const std::string& job);

  /// What is kept, in the cluster as it is, and for whom.
  std::optional<Reservation> reservation(const Snapshot& snapshot);
  bool comes_before(const std::string& job, const std::string& other) const;

 private:
  std::map<Precedence, const Gang*> impatient() const;

  const Caches& caches_;
  const Seconds patience_;
  const std::function<Moment()> now_;
  std::mutex mutex_;
  std::map<std::string, Gang> gangs_;  // by job
  std::string favoured_;               // room was kept for this job when somebody asked last
};

}  // namespace atl::ctl
