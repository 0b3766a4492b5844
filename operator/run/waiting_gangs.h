// Gangs that found no room, and those of them for which room is kept: the first in order that has waited too
// long and could ever have places, and after it those that could have them on nodes which none before could
// use. So none waits for another. Nothing of it has to be remembered: the jobs' statuses tell who waits, and
// since when, and a gang's needs come with its next plan.
//
// As long as nothing has changed that the answer depends on, the last answer is given again; where only pods
// came or went, also for a few seconds more, because kept room that isn't the nearest is kept as well. Of
// gangs that can never have places, one per class is tried, and none of those that no empty cluster would
// hold. After a change, many classes have to be tried again: whoever asks next tries a few, those untried the
// longest first. Otherwise each of hundreds that wait in vain would be tried again for everybody's plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/plan/demand_class.h"
#include "operator/plan/pod_size.h"
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

/// Since when a job that could be placed has had no places for its gang: the time in which its data set was
/// prepared doesn't count. Nothing where it doesn't wait for places.
std::optional<Moment> waits_for_places_since(const Status& status);

/// Since when a job whose workers are ready has had no node for its launcher.
std::optional<Moment> waits_for_launcher_since(const Status& status);

/// Since when a job has had no room: no places, no node for its prepare pod, or none for its launcher.
std::optional<Moment> waits_for_room_since(const Status& status);

// The expensive part of a planner's work: looking for places in a whole cluster.

/// Tests count the searches, or make something happen meanwhile.
struct Searches {
  std::function<GangPlan(const Gang&, const Snapshot&)> plan = plan_gang;
  std::function<std::optional<Reservation>(const Gang&, const Snapshot&, const std::set<std::string>& but)>
      reserve = ctl::reserve;
  std::function<std::optional<PodSize>(const std::vector<Gang>&, const Snapshot&, const std::string& gpu)>
      largest_pods = ctl::largest_pods;
};

/// Room that is kept for gangs, in the order of the gangs. On each node at most one gang has some.
using KeptRooms = std::vector<std::shared_ptr<const Reservation>>;
/// Pods that occupy it.
std::vector<PodState> room_of(const KeptRooms& kept);

/// A gang that found no room.
struct Waiting {
  Gang gang;
  std::string demand_class;
};

/// The generations of what an answer was computed from: a later one makes it old.
struct Generations {
  std::uint64_t room = 0, capacity = 0;  // RoomTable's
  std::uint64_t order = 0;               // Caches'
};

/// Thread-safe, except for what only one caller at a time may use.
class WaitingGangs {
 public:
  /// Keeps room for a gang that has waited for `patience`. `caches` must outlive it.
  WaitingGangs(const Caches& caches, Seconds patience, std::function<Moment()> now, Searches searches)
      : caches_(caches), patience_(patience), now_(std::move(now)), searches_(std::move(searches)) {}

  void put(Waiting waiting);
  /// The job no longer waits. Returns whether room was kept for it.
  bool remove(const std::string& job);
  bool has(const std::string& job) const;
  std::size_t size() const;
  bool comes_before(const std::string& job, const std::string& other) const;

  struct InLine {
    Precedence precedence;
    Moment since{};
    std::shared_ptr<const Waiting> waiting;
  };

  // For one caller at a time:
  /// Gangs that wait for places, in the order in which room is kept for them. Valid until the next call.
  const std::vector<InLine>& in_line();

  /// How to look at the cluster where an answer isn't known yet. No lock is held meanwhile.
  struct Look {
    /// The cluster as a plan for the job sees it.
    std::function<const Snapshot&(const std::string& job)> snapshot;
    /// Whether not even an empty cluster would hold a gang of that class.
    std::function<bool(const std::string& demand_class)> is_too_large;
  };
  KeptRooms kept_rooms(const Generations& now, const Look& look);
  /// How long the kept room stays where it is, although room of that generation could bring a nearer one.
  Seconds stays_for(std::uint64_t room) const;

 private:
  using InOrder = std::vector<const Waiting*>;
  using Names = std::set<std::string>;
  struct Kept {
    std::shared_ptr<const Reservation> room;
    std::string demand_class;   // of the gang that it is for
    Moment at{};                // when the room was chosen
    std::uint64_t of_room = 0;  // the generation of room then
  };
  /// The last answer.
  struct Answer {
    Generations of;
    std::uint64_t changes = 0;
    // until when it holds: until the next gang's patience ends; no longer if some gangs are untried
    Moment until{};
    Moment at{};
    std::vector<Kept> kept;
  };
  /// How many more gangs may be tried for one question, besides those for which room was kept before.
  struct Tries {
    const Look& look;
    Generations now;
    int left = 0;
  };
  /// A class that was tried in vain: none of it could have places, or none beside others' claims.
  struct Vain {
    Generations now;
    bool is_beside_others = false;
    Moment at{};
  };

  bool is_known(const Generations& now, std::uint64_t changes) const;
  /// Gangs that have waited longer than patience_. `until` becomes the moment at which the next one joins
  /// them.
  InOrder impatient(Moment& until);
  void search(const InOrder& impatient, Tries tries, Answer& answer);
  /// Keeps room for the gang after the first `after` of the answer, on none of the nodes that these claim.
  /// False: it could have none.
  bool keep_room(const Waiting& waiting, const Names& claimed, std::size_t after, Tries& tries,
                 Answer& answer);
  bool is_kept_still(const Kept* last, const Names& claimed, std::size_t after, const Generations& now) const;
  const Kept* kept_before(const Waiting& waiting) const;
  bool is_vain(const Waiting& waiting, const Names& claimed, const Generations& now) const;
  void forget_all_but(const InOrder& impatient);
  /// Gangs, one per demand class, whose class hasn't been tried in this generation of room; those tried
  /// longest ago come first.
  InOrder untried(const InOrder& hopeless, std::uint64_t generation) const;
  void favour(const KeptRooms& kept);
  std::uint64_t changes() const;

  const Caches& caches_;
  const Seconds patience_;
  const std::function<Moment()> now_;
  const Searches searches_;
  // for one caller at a time:
  Answer answer_;
  std::map<std::string, Vain> vain_;  // by class
  std::vector<InLine> line_;
  std::pair<std::uint64_t, std::uint64_t> line_of_{-1, -1};      // the order's generation and changes_ then
  mutable std::mutex mutex_;                                     // guards the members that follow
  std::map<std::string, std::shared_ptr<const Waiting>> gangs_;  // by job
  std::uint64_t changes_ = 0;                                    // counts changes of gangs_
  std::set<std::string> favoured_;  // jobs for which room was kept at the last question
};

// Limits for whom an autoscaler is asked for nodes, since each costs money: so many servers in all, and half
// as many for one namespace, so that none can use up what others could ask for. Gangs that come first in
// order have the first right. A gang that has asked keeps to that until one that comes before it wants it.
//
// Which gangs have asked is in the cluster; what is kept here is those that want to.

/// Thread-safe. Jobs are named "space/name".
class NodeRequests {
 public:
  /// `most`: servers for which nodes are asked at a time, by all jobs.
  explicit NodeRequests(int most) : most_(most), most_of_space_((most + 1) / 2) {}

  /// Why the job may not ask for so many servers now, for a message; "": it may, and counts as one that does.
  std::string why_not(const std::string& job, const Precedence& order, std::size_t servers);
  /// The job wants nothing, and has nothing any more.
  void forget(const std::string& job);
  /// Takes over what jobs have asked for according to their statuses.
  void restore(const Caches& caches);
  /// Jobs that ask, or want to.
  std::size_t size() const;

 private:
  struct Wish {
    Precedence order;
    std::int64_t servers = 0;
    bool is_granted = false;
  };

  const std::int64_t most_, most_of_space_;
  mutable std::mutex mutex_;  // guards:
  std::map<std::string, Wish> wishes_;
};

/// Whether anything of the job's own asks for nodes.
bool has_requests(const Observed& seen);

}  // namespace atl::ctl
