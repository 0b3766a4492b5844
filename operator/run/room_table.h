// What each node has left, after all pods on it and all bookings. News of nodes, pods, jobs and bookings says
// which pods and nodes to look at again. Only their sums are computed anew, however large the cluster is.
//
// A job's pod holds room on the node where it is bound. A pod that isn't bound holds room on the node that it
// is pinned to, or else on the one booked for it, or else on the one planned in its job's status. Pods of
// other owners are summed up by node elsewhere (ThinPods).
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
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/plan/snapshot.h"

namespace atl::ctl {

class Caches;
struct NodeEntry;
struct PodView;

/// Room that a decision takes for a pod before the caches show the pod there.
struct Booking {
  std::string node;
  Resources requests;  // count until the caches show the pod
};

/// Thread-safe, except snapshot(), take_changes() and book(), which one thread at a time may call.
class RoomTable {
 public:
  /// `caches` must outlive it. `on_room` is called, by any thread, when there may be more room than before.
  RoomTable(const Caches& caches, std::function<void()> on_room)
      : caches_(caches), on_room_(std::move(on_room)) {}

  // News, which the caches already hold when these are called. Pods and jobs are named "namespace/name".
  void node_changed(const std::string& node);
  /// Pods of no job take another amount of the node. `gives_room` says that some amount became less.
  void others_changed(const std::string& node, bool gives_room);
  void pod_changed(const std::string& pod);
  /// The caches showed the pod, and no longer do. Its booking ends.
  void pod_gone(const std::string& pod);
  void job_changed(const std::string& job);

  /// Adds `pods`, by their names in the job's namespace, to the job's bookings. Returns false, and books
  /// nothing, if one of the nodes has changed since the last snapshot: this job's plan couldn't know that.
  /// Only the caller of snapshot() may call it.
  bool book(const std::string& job, std::map<std::string, Booking>&& pods);
  /// Ends the job's bookings, except those of the pods in `but`. Pods that the caches already show on nodes
  /// keep their room.
  void cancel(const std::string& job, const std::set<std::string>& but = {});
  /// Ends the bookings of all jobs.
  void cancel_all();

  /// Grows whenever the room on a node changes, or the node itself.
  std::uint64_t generation() const { return generation_; }
  /// Grows whenever a node comes, goes, or offers something else: labels, taints, amounts.
  std::uint64_t capacity_generation() const { return capacity_generation_; }
  /// The jobs whose pods hold room on the node. A pod that is pinned, booked or planned there holds room too.
  std::set<std::string> jobs_on(const std::string& node) const;
  /// Whether no pod of the job holds room anywhere.
  bool holds_nothing(const std::string& job) const;
  /// Pods for which room is booked.
  std::size_t bookings() const;
  /// The number of jobs whose pods hold room.
  std::size_t jobs() const;

  /// The cluster as a plan for the job sees it: all nodes, by name, with what the pods of others leave on
  /// each. `pods` are copied into the snapshot. Valid until the next call. One caller at a time.
  const Snapshot& snapshot(const std::string& job, const std::vector<PodState>& pods = {});

  /// Nodes are given by their indices in the snapshot.
  struct Changes {
    std::set<std::size_t> nodes;           // whose state or room has changed
    std::optional<std::vector<int>> from;  // each node's former index, −1: new; nothing: no index changed
  };
  /// How the snapshot has changed since the last call of this. Only the caller of snapshot() may call it.
  Changes take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Holding {
    std::string node, job;  // job "": a pod of no job
    Resources requests;
    bool operator==(const Holding&) const = default;
  };
  struct Node {
    std::shared_ptr<const NodeEntry> entry;  // null: the node doesn't exist
    std::set<const Holding*> holdings;       // values of holdings_
  };
  struct Booked {
    std::string job;
    Booking booking;
  };

  // With mutex_ held:
  std::optional<Holding> holding_of(const std::string& pod) const;
  /// Looks at the pod again. Returns whether that frees room.
  bool look_at(const std::string& pod);
  void take_off(const std::string& pod, const Holding& holding);
  void touch(const std::string& node);
  /// Makes the snapshot's nodes equal to those that exist, in the order of their names.
  void line_up();
  /// A node's index in the snapshot; nothing if it isn't in there.
  std::optional<std::size_t> place_of(const std::string& node) const;
  bool is_as_shown(const std::string& node) const;
  NodeLeft left_of(const std::string& name, const Node& node, const std::string& but) const;

  const Caches& caches_;
  const std::function<void()> on_room_;
  std::atomic<std::uint64_t> generation_ = 0, capacity_generation_ = 0;
  mutable std::mutex mutex_;  // guards what follows, except what only the caller of snapshot() uses
  std::map<std::string, Node> nodes_;
  std::unordered_map<std::string, Holding> holdings_;       // by pod
  std::map<std::string, std::set<std::string>> by_job_;     // pods that hold room
  std::unordered_map<std::string, Booked> booked_;          // by pod
  std::map<std::string, std::set<std::string>> booked_by_;  // pods, by job
  std::set<std::string> touched_;    // nodes whose state in the snapshot is out of date
  std::set<std::string> set_aside_;  // nodes shown without the pods of the snapshot's job
  bool is_in_line_ = true;           // whether the snapshot has exactly the nodes that exist
  Snapshot snapshot_;
  Changes changes_;
  std::vector<std::shared_ptr<const NodeEntry>> shown_;  // the sources of the snapshot's nodes
};

}  // namespace atl::ctl
