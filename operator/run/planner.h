// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and a gang's room
// counts as taken from the decision on: otherwise two gangs planned in a row would get the same room. Room
// that is kept for a gang which has waited too long counts as taken for all that come after it.
//
// A gang that found no room gets the same answer without a search until something changes that plans depend
// on; so do all gangs with the same demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/controller/decide.h"
#include "operator/run/caches.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

class Planner {
 public:
  /// Keeps room for a gang that has waited for `patience`. `caches` must outlive the planner.
  Planner(Caches& caches, Seconds patience, std::function<Moment()> now, const Searches& searches = {})
      : caches_(caches), room_(caches.room()), searches_(searches), waiting_(caches, patience, std::move(now), searches) {}

  /// The plans of one look at a job. A plan that fits takes its room at once, for the pods that it is for;
  /// the room of those that the decision doesn't write is free again when this ends.
  class JobPlans {
   public:
    /// Ends the job's bookings, because the caches show the pods or nothing came of them; except those of the
    /// pods in `unseen`.
    JobPlans(Planner& planner, std::string job, std::set<std::string> unseen = {});
    ~JobPlans();
    JobPlans(const JobPlans&) = delete;
    JobPlans& operator=(const JobPlans&) = delete;

    /// `pods`: as in ClusterView::plan(). Waits for others' plans, and for nothing else.
    GangPlan plan(const Gang& gang, const std::vector<std::string>& pods);
    /// Keeps the room of pods that the decision makes or pins. Called once, after the last plan.
    void keep(const Decision& decision);

   private:
    Planner& planner_;
    const std::string job_;
    std::set<std::string> kept_;
  };

  /// Ends the job's bookings, except those of the pods in `but`.
  void forget(const std::string& job, const std::set<std::string>& but = {}) { room_.cancel(job, but); }

  /// The job no longer needs places. Returns whether room was kept for it, which others may have now.
  bool stop_waiting(const std::string& job) { return waiting_.remove(job); }

 private:
  // For whoever holds mutex_:
  GangPlan plan_whole(const Gang& gang);
  GangPlan plan_beside(const Gang& gang, const std::string& demand_class, const Reservation* kept);
  GangPlan search(const Gang& gang, const Reservation* kept);

  const Caches& caches_;
  RoomTable& room_;
  const Searches searches_;
  WaitingGangs waiting_;
  std::mutex mutex_;  // guards what follows, and the table's snapshot
  // gangs that don't fit: by class, and whether room is kept from them
  std::map<std::pair<std::string, bool>, GangPlan> refused_;
  std::uint64_t refused_in_ = 0;            // the room's generation in which they were refused
  std::shared_ptr<const Reservation> kept_;  // the room that was kept then
};

}  // namespace atl::ctl
