// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and the room of one counts as
// taken from the moment it is decided on: else two that are planned back to back would get the same.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "operator/controller/decision.h"
#include "operator/run/caches.h"

namespace atl::ctl {

class Planner {
 public:
  /// `caches` must outlive the planner.
  explicit Planner(const Caches& caches) : caches_(caches) {}

  /// One job's turn to plan. It begins with the first plan, and until it ends nobody else's does.
  class Turn {
   public:
    explicit Turn(Planner& planner) : planner_(planner), lock_(planner.turn_, std::defer_lock) {}
    GangPlan plan(const Gang& gang);
    /// The nodes that the decision pins pods to are taken. Ends the turn.
    void book(const std::string& job, const Decision& decision);

   private:
    Planner& planner_;
    std::unique_lock<std::mutex> lock_;
  };

  /// The caches show what was booked, or it came to nothing.
  void forget(const std::string& job);

 private:
  Snapshot snapshot() const;
  std::string booked_node(const PodView& pod) const;

  const Caches& caches_;
  std::mutex turn_;
  mutable std::mutex mutex_;                                            // of bookings_
  std::map<std::string, std::map<std::string, std::string>> bookings_;  // by job: nodes by pod
};

}  // namespace atl::ctl
