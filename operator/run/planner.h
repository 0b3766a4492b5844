// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and a gang's room
// counts as taken as soon as it is decided. Otherwise two gangs planned one after the other would get the
// same room. Room that is kept for a gang which has waited too long counts as taken for all later gangs.
//
// A gang that found no room gets the same answer, without a search, until something changes that plans depend
// on. The same holds for all gangs of its class, which have the same demand. For each class, the planner
// tracks how many gangs the nodes could hold. While that is none, a change costs no search either.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/controller/decide.h"
#include "operator/plan/demand_class.h"
#include "operator/run/caches.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

class Planner {
 public:
  /// Keeps room for a gang that has waited for `patience`. `caches` must outlive the planner.
  Planner(Caches& caches, Seconds patience, std::function<Moment()> now, const Searches& searches = {})
      : caches_(caches),
        room_(caches.room()),
        now_(now),
        searches_(searches),
        waiting_(caches, patience, std::move(now), searches) {}
  /// Room for what was decided but not written isn't left booked for the next planner.
  ~Planner() { room_.cancel_all(); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The plans of one look at a job. A plan that fits books its pods' room at once. When this object ends,
  /// the bookings of pods that the decision doesn't write are cancelled.
  class JobPlans {
   public:
    /// Cancels the job's bookings, except those of the pods in `unseen`. The caches show the other pods by
    /// now, or those pods were never made.
    JobPlans(Planner& planner, std::string job, std::set<std::string> unseen = {});
    ~JobPlans();
    JobPlans(const JobPlans&) = delete;
    JobPlans& operator=(const JobPlans&) = delete;

    /// `pods` is as in ClusterView::plan(). The call waits for other threads' plans, and for nothing else.
    GangPlan plan(const Gang& gang, const std::vector<std::string>& pods);
    /// largest_pods() of the present nodes (operator/plan/pod_size.h). The answer that there are none is kept
    /// for a while, for all jobs that are alike, unless a node comes, goes or offers something else.
    std::optional<PodSize> largest_pods(const std::vector<Gang>& ways, const std::string& gpu);
    /// Keeps the bookings of pods that the decision makes or pins. A gang that was refused counts as waiting
    /// from now on. Called once, after the last plan.
    void keep(const Decision& decision);
    /// Whether the whole gang was planned.
    bool has_planned() const { return has_planned_; }

   private:
    Planner& planner_;
    const std::string job_;
    std::set<std::string> kept_;
    std::optional<Waiting> refused_;  // the gang that the last plan refused
    bool has_planned_ = false;
  };

  /// Ends the job's bookings, except those of the pods in `but`.
  void forget(const std::string& job, const std::set<std::string>& but = {}) { room_.cancel(job, but); }

  /// The waiting jobs whose gangs could fit now, in the order of waiting. Of each class there are at most as
  /// many as there could be room for. Jobs that are put off are left out, so that others get their turns.
  std::vector<std::string> could_fit_now(const std::function<bool(const std::string& job)>& is_put_off =
                                             [](const std::string&) { return false; });
  /// How long kept room stays where it is, although the cluster has changed. After that time, other gangs
  /// could fit.
  Seconds kept_room_stays();
  /// Whether kept room has moved or been given up since the last call of this or of could_fit_now(). Other
  /// gangs may have it now.
  bool take_moved() { return has_moved_.exchange(false); }
  /// Whether the planner knows the job's gang as waiting.
  bool knows(const std::string& job) const { return waiting_.has(job); }
  /// The number of waiting gangs.
  std::size_t size() const { return waiting_.size(); }

  /// The job no longer needs places. Returns whether room was kept for it, which other jobs may have now.
  bool stop_waiting(const std::string& job) { return waiting_.remove(job); }

 private:
  /// The last refusal of a class, and the state of the room at that time.
  struct Refusal {
    GangPlan plan;
    std::uint64_t generation = 0, capacity = 0;  // of the room table, at that time
    KeptRooms beside;                            // kept room that the class couldn't use
    Moment at{};
    bool could_ever = false, lacks_launcher = false;  // ClassRoom's, at that time
  };
  struct Class {
    ClassRoom room;
    std::map<std::size_t, Refusal> refusals;  // by the number of gangs whose kept room was left out
    Moment asked{};                           // when a gang of the class was last planned
  };

  /// A record that no nodes could hold a gang.
  struct TooLarge {
    std::uint64_t capacity = 0;  // of the room table, at that time
    Moment at{};
  };

  // The caller of these holds mutex_.
  GangPlan plan_whole(const Waiting& waiting);
  GangPlan plan_beside(const Waiting& waiting, const KeptRooms& kept, std::uint64_t generation);
  void remember(const Waiting& waiting, Refusal refusal);
  void tell_of_kept_room(const Waiting& waiting, const KeptRooms& beside, GangPlan& plan);
  GangPlan search(const Gang& gang, const KeptRooms& kept);
  const KeptRooms& kept_rooms();
  /// Updates what each class finds on the nodes, and returns the present cluster.
  const Snapshot& follow();
  void drop_old_classes();
  bool is_too_large(const std::string& demand_class) const;

  const Caches& caches_;
  RoomTable& room_;
  const std::function<Moment()> now_;
  const Searches searches_;
  WaitingGangs waiting_;
  std::mutex mutex_;                           // guards what follows, and the table's snapshot
  std::map<std::string, Class> classes_;       // classes of gangs that didn't fit
  std::map<std::string, TooLarge> too_large_;  // by the digest of all divisions of a job into pods
  KeptRooms kept_;                             // the last answer of kept_rooms()
  std::atomic<bool> has_moved_ = false;
};

}  // namespace atl::ctl
