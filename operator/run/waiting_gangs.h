// Gangs that found no room, and the one of them for which room is kept: the first in order that has waited
// too long and could ever have places. Room is kept for one at a time, so that two can't wait for each other.
// Nothing of it has to be remembered: the jobs' statuses tell who waits, and since when, and a gang's needs
// come with its next plan.
//
// As long as nothing has changed that the answer depends on, the last answer is given again. Of gangs that
// can never have places, one per class is tried. After a change, many classes have to be tried again: whoever
// asks next tries a few, those untried the longest first. Otherwise each of hundreds that wait in vain would
// be tried again for everybody's plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "operator/plan/reservation.h"
#include "operator/run/caches.h"

namespace atl::ctl {

// The order of waiting jobs: by priority, then by age, then by name.

struct Precedence {
  std::int64_t less_urgent = 0;  // the negated priority of its pods
  Moment created{};
  std::string job;

  friend bool operator<(const Precedence& a, const Precedence& b) {
    return std::tie(a.less_urgent, a.created, a.job) < std::tie(b.less_urgent, b.created, b.job);
  }
};

Precedence precedence_of(const GnnJob& job, const Caches& caches);

/// Since when a job has had no places for its gang; nothing where it doesn't wait for places.
std::optional<Moment> waits_for_places_since(const Status& status);

/// Since when a job has had no room: no places, no node for its prepare pod, or none for its launcher.
std::optional<Moment> waits_for_room_since(const Status& status);

// The expensive part of a planner's work: looking for places in a whole cluster.

/// Tests count the searches, or make something happen meanwhile.
struct Searches {
  std::function<GangPlan(const Gang&, const Snapshot&)> plan = plan_gang;
  std::function<std::optional<Reservation>(const Gang&, const Snapshot&)> reserve = ctl::reserve;
};

/// Thread-safe, except that only one caller at a time may use reservation(), which holds no lock while it
/// searches.
class WaitingGangs {
 public:
  /// Keeps room for a gang that has waited for `patience`. `caches` must outlive it.
  WaitingGangs(const Caches& caches, Seconds patience, std::function<Moment()> now, Searches searches)
      : caches_(caches), patience_(patience), now_(std::move(now)), searches_(std::move(searches)) {}

  void put(const Gang& gang, const std::string& demand_class);
  /// The job no longer waits. Returns whether room was kept for it.
  bool remove(const std::string& job);

  /// The cluster as a plan for the job sees it.
  using ShownTo = std::function<const Snapshot&(const std::string& job)>;
  /// The kept room, in the cluster as of this generation of room; null: none. Calls `snapshot` where the
  /// answer isn't known yet.
  std::shared_ptr<const Reservation> reservation(std::uint64_t generation, const ShownTo& snapshot);
  bool comes_before(const std::string& job, const std::string& other) const;

 private:
  struct Waiting {
    Gang gang;
    std::string demand_class;
  };
  using Waiters = std::map<std::string, std::shared_ptr<const Waiting>>;  // by job
  using InOrder = std::vector<const Waiting*>;
  /// The last answer.
  struct Answer {
    std::uint64_t generation = 0, order = 0, changes = 0;
    // until when it holds: until the next gang's patience ends; no longer if some gangs are untried
    Moment until{};
    std::shared_ptr<const Reservation> reservation;
    std::string demand_class;  // of the gang that it is for
  };
  /// How many more gangs may be tried for one question.
  struct Tries {
    const ShownTo& snapshot;
    std::uint64_t generation = 0;
    int left = 0;
  };

  Waiters waiters(std::uint64_t& changes) const;
  /// Gangs that have waited longer than patience_, in the order in which room is kept for them. `until`
  /// becomes the moment at which the next one joins them.
  InOrder impatient(const Waiters& waiters, Moment& until) const;
  void search(const InOrder& impatient, Tries tries, Answer& answer);
  std::shared_ptr<const Reservation> reserve(const Waiting& waiting, Tries& tries);
  void forget_all_but(const InOrder& impatient);
  /// Gangs, one per demand class, whose class found no room in an earlier generation and hasn't been tried in
  /// this one; those tried longest ago come first.
  InOrder untried(const InOrder& hopeless, std::uint64_t generation) const;
  void favour(const Reservation* reservation);

  const Caches& caches_;
  const Seconds patience_;
  const std::function<Moment()> now_;
  const Searches searches_;
  // used only by the thread that asks for reservations:
  Answer answer_;
  // classes of which no gang could have places, and the generation of that answer
  std::map<std::string, std::uint64_t> hopeless_;
  mutable std::mutex mutex_;  // guards the members that follow
  Waiters gangs_;
  std::uint64_t changes_ = 0;  // counts changes of gangs_
  std::string favoured_;       // the job for which room was kept at the last question
};

}  // namespace atl::ctl
