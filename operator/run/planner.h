// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and the room of one
// counts as taken from the moment it is decided on: else two that are planned back to back would get the
// same. Room that is kept for a gang which has waited too long is taken for all that come after it.
//
// A gang that finds no room is told so again, without a search, until something changes that a plan turns on;
// and so are all that need the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "operator/controller/decide.h"
#include "operator/run/caches.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

class Planner {
 public:
  /// Room is kept for a gang that has waited for `patience`. `caches` must outlive the planner.
  Planner(const Caches& caches, Seconds patience, std::function<Moment()> now, const Searches& searches = {})
      : caches_(caches), searches_(searches), waiting_(caches, patience, std::move(now), searches) {}

  /// One job's right to plan. It begins with the first plan, and until it ends nobody else has it.
  class PlanLock {
   public:
    explicit PlanLock(Planner& planner) : planner_(planner), lock_(planner.turn_, std::defer_lock) {}
    GangPlan plan(const Gang& gang);
    /// The nodes that the decision pins pods to are taken. Ends the right.
    void book(const std::string& job, const Decision& decision);

   private:
    Planner& planner_;
    std::unique_lock<std::mutex> lock_;
  };

  /// The caches show what was booked, or it came to nothing; but for these pods.
  void forget(const std::string& job, const std::set<std::string>& but = {});

  /// The job needs no places any more. True where room was kept for it, which others may have now.
  bool stop_waiting(const std::string& job) { return waiting_.remove(job); }

 private:
  // By whose turn it is.
  /// Once for a plan.
  void look_around();
  void look_at_nodes();
  GangPlan plan_whole(const Gang& gang);
  GangPlan plan_beside(const Gang& gang, const std::string& demand_class, const Reservation* kept,
                       std::uint64_t generation);
  GangPlan search(const Gang& gang, const Reservation* kept);

  /// Another one whenever a plan may have another answer than before.
  std::uint64_t generation() const { return caches_.generation() + booked_; }
  /// No pod of it has or is to have a place: it finds what any other of its class does.
  bool holds_nothing(const std::string& job) const;

  std::string booked_node(const PodView& pod, const std::string& job) const;
  /// Those that are being made on their nodes, by full name.
  std::map<std::string, PodState> unborn() const;

  const Caches& caches_;
  const Searches searches_;
  WaitingGangs waiting_;
  std::mutex turn_;
  std::uint64_t refused_in_ = 0;             // the generation of:
  std::map<std::string, GangPlan> refused_;  // by class, and for whom room was kept: gangs that don't fit
  std::atomic<std::uint64_t> booked_ = 0;    // changes of bookings_
  Snapshot snapshot_;                        // of the present turn
  bool is_current_ = false;                  // it was made for the present plan
  std::vector<std::shared_ptr<const NodeEntry>> nodes_;              // that its nodes are copies of
  mutable std::mutex mutex_;                                         // of bookings_
  std::map<std::string, std::map<std::string, PodState>> bookings_;  // by job and pod
};

}  // namespace atl::ctl
