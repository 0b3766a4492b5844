// Places for gangs in the cluster as the caches show it. Gangs are planned one at a time, and a gang's room
// counts as taken from the decision on: otherwise two gangs planned in a row would get the same room. Room
// that is kept for a gang which has waited too long counts as taken for all that come after it.
//
// A gang that found no room gets the same answer without a search until something changes that plans depend
// on; so do all gangs of its class, which have the same demand. What a class finds on each node is followed,
// so while the sums say that none of it can fit, a change costs no search either.
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
  /// What was decided and isn't written holds no room for the next planner.
  ~Planner() { room_.cancel_all(); }
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

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
    /// largest_pods() of the nodes that there are (operator/plan/pod_size.h). That there are none is known
    /// for a while of all jobs that are alike, unless a node comes, goes or offers something else.
    std::optional<PodSize> largest_pods(const std::vector<Gang>& ways, const std::string& gpu);
    /// Keeps the room of pods that the decision makes or pins; a gang that was refused waits from now on.
    /// Called once, after the last plan.
    void keep(const Decision& decision);
    /// Whether places were looked for, for the whole gang.
    bool has_planned() const { return has_planned_; }

   private:
    Planner& planner_;
    const std::string job_;
    std::set<std::string> kept_;
    std::optional<Waiting> refused_;  // by the last plan
    bool has_planned_ = false;
  };

  /// Ends the job's bookings, except those of the pods in `but`.
  void forget(const std::string& job, const std::set<std::string>& but = {}) { room_.cancel(job, but); }

  /// The waiting jobs whose gangs could fit now, in the order in which they come: of each class as many as
  /// there could be room for. Those that are put off leave their turns to others.
  std::vector<std::string> could_fit_now(const std::function<bool(const std::string& job)>& is_put_off =
                                             [](const std::string&) { return false; });
  /// How long kept room stays where it was before the last changes; then those who could fit may be others.
  Seconds kept_room_stays();
  /// Whether kept room has moved, or is kept no more, since the last could_fit_now() or call of this: others
  /// may have it.
  bool take_moved() { return has_moved_.exchange(false); }
  /// Whether the job's gang is among those that wait.
  bool knows(const std::string& job) const { return waiting_.has(job); }
  /// Gangs that wait.
  std::size_t size() const { return waiting_.size(); }

  /// The job no longer needs places. Returns whether room was kept for it, which others may have now.
  bool stop_waiting(const std::string& job) { return waiting_.remove(job); }

 private:
  /// The last refusal of a class, and in which room.
  struct Refusal {
    GangPlan plan;
    std::uint64_t generation = 0, capacity = 0;  // the table's
    KeptRooms beside;                            // room that was kept from it
    Moment at{};
    bool could_ever = false, lacks_launcher = false;  // ClassRoom's then
  };
  struct Class {
    ClassRoom room;
    std::map<std::size_t, Refusal> refusals;  // by how many gangs' room was kept from it
    Moment asked{};                           // when one of it was last planned
  };

  /// That no nodes could hold gangs.
  struct TooLarge {
    std::uint64_t capacity = 0;  // the table's
    Moment at{};
  };

  // For whoever holds mutex_:
  GangPlan plan_whole(const Waiting& waiting);
  GangPlan plan_beside(const Waiting& waiting, const KeptRooms& kept, std::uint64_t generation);
  void remember(const Waiting& waiting, Refusal refusal);
  void tell_of_kept_room(const Waiting& waiting, const KeptRooms& beside, GangPlan& plan);
  GangPlan search(const Gang& gang, const KeptRooms& kept);
  const KeptRooms& kept_rooms();
  /// Brings what classes find up to date, and returns the cluster as it is.
  const Snapshot& follow();
  void drop_old_classes();
  bool is_too_large(const std::string& demand_class) const;

  const Caches& caches_;
  RoomTable& room_;
  const std::function<Moment()> now_;
  const Searches searches_;
  WaitingGangs waiting_;
  std::mutex mutex_;                           // guards what follows, and the table's snapshot
  std::map<std::string, Class> classes_;       // of gangs that didn't fit
  std::map<std::string, TooLarge> too_large_;  // by the digest of all ways to divide a job among pods
  KeptRooms kept_;                             // as last asked for
  std::atomic<bool> has_moved_ = false;
};

}  // namespace atl::ctl
