// Gangs that found no room, and the few for which room is kept. Room is kept for the first gang in order that
// has waited too long and could ever have places. It is also kept for later gangs that could have places on
// nodes which no gang before them could use. So no gang waits for another. None of this has to be remembered:
// the jobs' statuses tell which gangs wait, and since when, and a gang's needs come with its next plan.
//
// The last answer is given again as long as nothing has changed that it depends on. If only pods came or
// went, it also holds for a few seconds more; room that isn't the nearest any more is still kept room. Of
// gangs that can never have places, one per class is tried; classes that not even an empty cluster could hold
// aren't tried. After a change, many classes have to be tried again. Each question then tries only a few,
// those untried the longest first. Otherwise each of hundreds of hopeless gangs would delay every plan.
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

// The order of waiting jobs: priority first, then age, then name.

struct Precedence {
  std::int64_t less_urgent = 0;  // the negated priority of its pods
  Moment created{};
  std::string job;

  friend bool operator<(const Precedence& a, const Precedence& b) {
    return std::tie(a.less_urgent, a.created, a.job) < std::tie(b.less_urgent, b.created, b.job);
  }
};

Precedence precedence_of(const GnnJob& job, const Caches& caches);

/// Since when a job has had no places for its gang, not counting the time in which its data set was prepared.
/// Nothing if it doesn't wait for places.
std::optional<Moment> waits_for_places_since(const Status& status);

/// Since when a job whose workers are ready has had no node for its launcher.
std::optional<Moment> waits_for_launcher_since(const Status& status);

/// Since when a job has had no room: no places, no node for its prepare pod, or no node for its launcher.
std::optional<Moment> waits_for_room_since(const Status& status);

// The expensive part of a planner's work: looking for places in a whole cluster.

/// The searches, which tests replace to count them or to make something happen during one.
struct Searches {
  std::function<GangPlan(const Gang&, const Snapshot&)> plan = plan_gang;
  std::function<std::optional<Reservation>(const Gang&, const Snapshot&, const std::set<std::string>& but)>
      reserve = ctl::reserve;
  std::function<std::optional<PodSize>(const std::vector<Gang>&, const Snapshot&, const std::string& gpu)>
      largest_pods = ctl::largest_pods;
};

/// Room that is kept for gangs, in the order of the gangs. On each node, room is kept for at most one gang.
using KeptRooms = std::vector<std::shared_ptr<const Reservation>>;
/// Pods that stand for the kept room in a snapshot.
std::vector<PodState> room_of(const KeptRooms& kept);

/// A gang that found no room.
struct Waiting {
  Gang gang;
  std::string demand_class;
};

/// The generations of the data from which an answer was computed. The answer is out of date once one has
/// grown.
struct Generations {
  std::uint64_t room = 0, capacity = 0;  // RoomTable's
  std::uint64_t order = 0;               // Caches'
};

/// Thread-safe, except for the parts that say so.
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

  // Only one caller at a time may use these.
  /// Gangs that wait for places, in the order in which room is kept for them. Valid until the next call.
  const std::vector<InLine>& in_line();

  /// How to look at the cluster if the answer isn't known yet. No lock is held while these are called.
  struct Look {
    /// The cluster as a plan for the job sees it.
    std::function<const Snapshot&(const std::string& job)> snapshot;
    /// Whether not even an empty cluster could hold a gang of that class.
    std::function<bool(const std::string& demand_class)> is_too_large;
  };
  KeptRooms kept_rooms(const Generations& now, const Look& look);
  /// How long kept room stays where it is, although the room of generation `room` could offer a nearer place.
  Seconds stays_for(std::uint64_t room) const;

 private:
  using InOrder = std::vector<const Waiting*>;
  using Names = std::set<std::string>;
  struct Kept {
    std::shared_ptr<const Reservation> room;
    std::string demand_class;   // the class of the gang
    Moment at{};                // when the room was chosen
    std::uint64_t of_room = 0;  // the generation of room then
  };
  /// The last answer.
  struct Answer {
    Generations of;
    std::uint64_t changes = 0;
    // the answer holds until the next gang's patience ends, or ends at once if some gangs are untried
    Moment until{};
    Moment at{};
    std::vector<Kept> kept;
  };
  /// How many more gangs may be tried for one question. Gangs for which room was kept before don't count.
  struct Tries {
    const Look& look;
    Generations now;
    int left = 0;
  };
  /// A class that was tried in vain: its gangs can't have places, or none beside other gangs' claims.
  struct Vain {
    Generations now;
    bool is_beside_others = false;
    Moment at{};
  };

  bool is_known(const Generations& now, std::uint64_t changes) const;
  /// The gangs that have waited longer than patience_. `until` is lowered to when the next gang joins them.
  InOrder impatient(Moment& until);
  void search(const InOrder& impatient, Tries tries, Answer& answer);
  /// Keeps room for the gang, as number `after` of the answer and on none of the `claimed` nodes. Returns
  /// false if it can have none.
  bool keep_room(const Waiting& waiting, const Names& claimed, std::size_t after, Tries& tries,
                 Answer& answer);
  bool is_kept_still(const Kept* last, const Names& claimed, std::size_t after, const Generations& now) const;
  const Kept* kept_before(const Waiting& waiting) const;
  bool is_vain(const Waiting& waiting, const Names& claimed, const Generations& now) const;
  void forget_all_but(const InOrder& impatient);
  /// One gang of each demand class that hasn't been tried in this generation of room. Those tried longest ago
  /// come first.
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
  std::set<std::string> favoured_;                               // jobs for which the last answer keeps room
};

// Limits on the nodes that an autoscaler is asked for, since nodes cost money. There is a limit of servers in
// all, and half of it for one namespace, so that no namespace uses up what others could ask for. Gangs that
// come first in order have the first right. A gang that has asked keeps its grant until an earlier gang wants
// it.
//
// The cluster shows which gangs have asked. The gangs that want to ask are kept here.

/// Thread-safe. Jobs are named "space/name".
class NodeRequests {
 public:
  /// `most` is the limit of servers for which all jobs together may ask for nodes at a time.
  explicit NodeRequests(int most) : most_(most), most_of_space_((most + 1) / 2) {}

  /// Why the job may not ask for nodes for `servers` servers now, for a message. "" if it may; it then counts
  /// as asking.
  std::string why_not(const std::string& job, const Precedence& order, std::size_t servers);
  /// The job wants no nodes, and has asked for none any more.
  void forget(const std::string& job);
  /// Takes over what the jobs' statuses say that they have asked for.
  void restore(const Caches& caches);
  /// The number of jobs that ask for nodes or want to.
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

/// Whether objects of the job ask for nodes.
bool has_requests(const Observed& seen);

}  // namespace atl::ctl
