// What each node has left, beside everybody's pods and what is booked. News of nodes, pods and jobs, and
// bookings, say which pods and nodes to look at again; nothing is added up anew but what changed, however
// large the cluster is.
//
// A job's pod holds room on the node where it is bound, or is to be: the node that it is pinned to; else the
// one that is booked for it; else the one that its job's status has planned. Other people's pods are summed
// up by node elsewhere (ThinPods).
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
  Resources requests;  // until the caches show the pod, which has its own
};

/// Any thread may call any of it, except snapshot().
class RoomTable {
 public:
  /// `caches` must outlive it. `on_room` is called, by any thread, when there may be more room than before.
  RoomTable(const Caches& caches, std::function<void()> on_room)
      : caches_(caches), on_room_(std::move(on_room)) {}

  // News, once the caches have it. Pods and jobs are named "namespace/name".
  void node_changed(const std::string& node);
  /// What pods of no job take there. `gives_room`: of some amount less than before.
  void others_changed(const std::string& node, bool gives_room);
  void pod_changed(const std::string& pod);
  /// The caches showed the pod, and show it no more: what was booked for it is over.
  void pod_gone(const std::string& pod);
  void job_changed(const std::string& job);

  /// `pods`: by name, in the job's namespace. Adds to what the job has booked. False where one of the nodes
  /// is no longer as the last snapshot shows it, because its change was no news to this job yet. For whoever
  /// calls snapshot().
  bool book(const std::string& job, std::map<std::string, Booking>&& pods);
  /// Ends the job's bookings, except those of the pods in `but`. Pods that the caches show on their nodes
  /// stay there.
  void cancel(const std::string& job, const std::set<std::string>& but = {});
  /// Ends the bookings of all jobs.
  void cancel_all();

  /// Changes whenever a node has more or less room than before, or is another.
  std::uint64_t generation() const { return generation_; }
  /// Changes whenever a node comes, goes, or offers something else: labels, taints, amounts.
  std::uint64_t capacity_generation() const { return capacity_generation_; }
  /// Whose pods have room on the node, or are to have it.
  std::set<std::string> jobs_on(const std::string& node) const;
  /// Whether no pod of the job has room, or is to have it.
  bool holds_nothing(const std::string& job) const;
  /// Pods for which room is booked.
  std::size_t bookings() const;
  /// Jobs whose pods have room, or are to have it.
  std::size_t jobs() const;

  /// The cluster as a plan for the job sees it: all nodes, by name, with what each has left beside pods of
  /// others; `pods` are added as they are. Valid until the next call. One caller at a time.
  const Snapshot& snapshot(const std::string& job, const std::vector<PodState>& pods = {});

  /// Nodes by their places in the snapshot.
  struct Changes {
    std::set<std::size_t> nodes;           // shown otherwise than before
    std::optional<std::vector<int>> from;  // where each node was, −1: nowhere; nothing: where it is
  };
  /// How the snapshot has changed since the last call. For the caller of snapshot().
  Changes take_changes() { return std::exchange(changes_, {}); }

 private:
  struct Holding {
    std::string node, job;  // "": no job's
    Resources requests;
    bool operator==(const Holding&) const = default;
  };
  struct Node {
    std::shared_ptr<const NodeEntry> entry;  // null: there is no such node
    std::set<const Holding*> holdings;       // values of holdings_
  };
  struct Booked {
    std::string job;
    Booking booking;
  };

  // With mutex_ held:
  std::optional<Holding> holding_of(const std::string& pod) const;
  /// Returns whether that gives room.
  bool look_at(const std::string& pod);
  void take_off(const std::string& pod, const Holding& holding);
  void touch(const std::string& node);
  /// Makes the snapshot's nodes those that there are, in the order of names.
  void line_up();
  /// A node's place in the snapshot; nothing where it isn't there.
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
  std::set<std::string> touched_;    // nodes that the snapshot shows as they were earlier
  std::set<std::string> set_aside_;  // nodes that it shows without the pods of the job last asked for
  bool is_in_line_ = true;           // whether the snapshot's nodes are those that there are
  Snapshot snapshot_;
  Changes changes_;
  std::vector<std::shared_ptr<const NodeEntry>> shown_;  // the sources of the snapshot's nodes
};

}  // namespace atl::ctl
