// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and a gang's room
// counts as taken from the decision on: otherwise two gangs planned in a row would get the same room. Room
// that is kept for a gang which has waited too long counts as taken for all that come after it.
//
// A gang that found no room gets the same answer without a search until something changes that plans depend
// on; so do all gangs with the same demand.
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
  /// Keeps room for a gang that has waited for `patience`. `caches` must outlive the planner.
  Planner(const Caches& caches, Seconds patience, std::function<Moment()> now, const Searches& searches = {})
      : caches_(caches), searches_(searches), waiting_(caches, patience, std::move(now), searches) {}

  /// One job's right to plan. It begins with the first plan; until it ends, nobody else has it.
  class PlanLock {
   public:
    explicit PlanLock(Planner& planner) : planner_(planner), lock_(planner.turn_, std::defer_lock) {}
    GangPlan plan(const Gang& gang);
    /// Takes the nodes to which the decision pins pods. Ends the right.
    void book(const std::string& job, const Decision& decision);

   private:
    Planner& planner_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Ends the bookings, because the caches show the pods or nothing came of them; except those of the pods in
  /// `but`.
  void forget(const std::string& job, const std::set<std::string>& but = {});

  /// The job no longer needs places. Returns whether room was kept for it, which others may have now.
  bool stop_waiting(const std::string& job) { return waiting_.remove(job); }

 private:
  // For whoever holds the right to plan:
  /// Once per plan.
  void look_around();
  void look_at_nodes();
  GangPlan plan_whole(const Gang& gang);
  GangPlan plan_beside(const Gang& gang, const std::string& demand_class, const Reservation* kept,
                       std::uint64_t generation);
  GangPlan search(const Gang& gang, const Reservation* kept);

  /// Changes whenever a plan may have another answer than before.
  std::uint64_t generation() const { return caches_.generation() + booked_; }
  /// Whether none of its pods has a place, or is to have one: then it gets the same answer as the rest of its
  /// class.
  bool holds_nothing(const std::string& job) const;

  std::string booked_node(const PodView& pod, const std::string& job) const;
  /// Pods that are being made on their nodes, by full name.
  std::map<std::string, PodState> unborn() const;

  const Caches& caches_;
  const Searches searches_;
  WaitingGangs waiting_;
  std::mutex turn_;
  std::uint64_t refused_in_ = 0;             // the generation of refused_
  std::map<std::string, GangPlan> refused_;  // gangs that don't fit: by class and job of the kept room
  std::atomic<std::uint64_t> booked_ = 0;    // counts changes of bookings_
  Snapshot snapshot_;                        // for the present right to plan
  bool is_current_ = false;                  // whether snapshot_ is made for the present plan
  std::vector<std::shared_ptr<const NodeEntry>> nodes_;              // the sources of snapshot_'s nodes
  mutable std::mutex mutex_;                                         // guards bookings_
  std::map<std::string, std::map<std::string, PodState>> bookings_;  // by job and pod
};

}  // namespace atl::ctl
