// What the operator knows of the cluster: jobs and their objects in full, nodes, and the requests of all
// other pods. Decisions are made from these caches alone. Every change is reported with the name of the job
// that it concerns.
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
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/controller/observed.h"
#include "operator/kube/cache.h"
#include "operator/kube/client.h"
#include "operator/run/kinds.h"
#include "operator/run/room_table.h"
#include "operator/run/thin_pods.h"

namespace atl::ctl {

// What Kueue's queues use, in the whole cluster: ResourceFlavors (kinds of nodes) and priority classes.

class QueueCaches {
 public:
  QueueCaches();

  void add_feeds(std::vector<Feed>& feeds);

  // From any thread:
  /// A ResourceFlavor's partial pod template; nothing if no flavor has that name.
  std::optional<std::string> flavor(const std::string& name) const;
  /// The names of ResourceFlavors that name a Topology.
  std::set<std::string> topology_flavors() const;
  /// The priority class that the job's label names, or else its pods' class, or else the cluster's default.
  /// Nothing if that class doesn't exist.
  std::optional<QueuePriority> priority_of(const GnnJob& job) const;

 private:
  struct Flavor {
    std::string name, pods;  // pods: a partial pod template
    bool has_topology = false;
  };
  struct PriorityClass {
    std::string name;
    int value = 0;
    bool is_default = false;
  };
  static Flavor read_flavor(std::string_view text);
  static PriorityClass read_class(std::string_view text);

  kube::Cache<Flavor> flavors_;
  kube::Cache<PriorityClass> queue_classes_, pod_classes_;
};

/// Is told of changes by the threads that fill the caches. Jobs are named "space/name".
class CacheListener {
 public:
  virtual ~CacheListener() = default;
  /// Something of the job changed. `mark` identifies the change for a writer that waits for it (feedback.h);
  /// it may be "".
  virtual void job_changed(const std::string& job, const std::string& mark) = 0;
  virtual void job_gone(const std::string& job) = 0;
  /// There may be more room than before.
  virtual void room_changed() = 0;
};

struct NodeEntry {
  NodeState state;
  Moment since{};  // when `ready` last changed
};

/// Names of objects by a key, which is the job that their label names, or their node.
class NameIndex {
 public:
  void add(const std::string& key, const std::string& name);
  void remove(const std::string& key, const std::string& name);
  std::vector<std::string> names(const std::string& key) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> names_;
};

/// The receivers of changes of jobs and pods, in this order.
struct News {
  RoomTable& room;
  std::atomic<std::uint64_t>& order;  // counts changes of the waiting jobs' order
  CacheListener& listener;
};

/// The cache of jobs, which limits how much memory any user can make it use. `news` are the receivers of
/// changes; they must outlive the cache. (job_cache.cc)
kube::Cache<GnnJob> job_cache(const News& news, const std::string& operator_class);

/// Jobs of one namespace, or of all, with their objects. For jobs of another class only the metadata is kept.
struct SpaceCaches {
  SpaceCaches(const News& news, const std::vector<Kind>& kinds, const std::string& operator_class);

  NameIndex pods_by_job, pods_by_node;
  std::map<Kind, NameIndex> objects_by_job;
  kube::Cache<GnnJob> jobs;
  kube::Cache<PodView> pods;
  std::map<Kind, std::unique_ptr<kube::Cache<ObjectView>>> objects;
};

/// Which jobs this operator handles, and which optional kinds of objects the cluster has.
struct Scope {
  std::vector<std::string> spaces{};           // namespaces; none: all
  std::string operator_class = kDefaultClass;  // jobs of other classes are ignored
  bool mpi_jobs = false, workloads = false, capacity_buffers = false;
};

class Caches {
 public:
  /// `listener` must outlive the caches.
  Caches(Scope scope, CacheListener& listener);

  std::vector<Feed> feeds();

  // From any thread:
  std::shared_ptr<const GnnJob> job(const std::string& name) const;
  std::vector<std::shared_ptr<const GnnJob>> jobs() const;
  /// The pods that the job owns. Other pods may carry its label too, and are left out.
  std::vector<std::shared_ptr<const PodView>> pods_of(const std::string& job) const;
  std::vector<std::shared_ptr<const ObjectView>> objects_of(const std::string& job) const;
  /// The metadata of a job, or of a job's object; null where there is none. `name`: "space/name".
  std::shared_ptr<const Meta> meta_of(Kind kind, const std::string& name) const;
  /// The pod; null if it doesn't exist. `name`: "space/name".
  std::shared_ptr<const PodView> pod(const std::string& name) const;
  /// The names of all pods with the job's label, whoever owns them.
  std::vector<std::string> labelled_pods(const std::string& job) const;
  /// Pods that are bound to the node.
  std::vector<std::shared_ptr<const PodView>> pods_on(const std::string& node) const;
  /// The job that owns the pod; "" if the pod merely carries a job's label.
  std::string owner_of(const PodView& pod) const;
  std::vector<std::shared_ptr<const NodeEntry>> nodes() const { return nodes_.all(); }
  std::shared_ptr<const NodeEntry> node(const std::string& name) const { return nodes_.find(name); }
  /// When a missing node was first asked for. An operator that has just started returns `now`.
  Moment missed_since(const std::string& node, Moment now) const;
  const ThinPods& others() const { return others_; }
  RoomTable& room() { return room_; }
  /// The number of cached objects of all kinds: jobs, their objects, nodes, and others' pods.
  std::size_t size() const;
  /// Grows whenever the set of waiting jobs or their order changes.
  std::uint64_t order_generation() const { return order_; }
  /// Null if the cluster has no Kueue.
  const QueueCaches* queues() const { return queues_.get(); }

 private:
  const SpaceCaches* find(const std::string& space) const;
  void node_changed(const std::string& name, const kube::Cache<NodeEntry>::Value& before,
                    const kube::Cache<NodeEntry>::Value& after);

  const std::string operator_class_;
  CacheListener& listener_;
  RoomTable room_;
  std::atomic<std::uint64_t> order_ = 0;
  std::map<std::string, std::unique_ptr<SpaceCaches>> spaces_;  // by namespace; "": all
  kube::Cache<NodeEntry> nodes_;
  mutable std::mutex missed_mutex_;
  mutable std::map<std::string, Moment> missed_;  // since when missing nodes were asked for
  ThinPods others_;
  const std::unique_ptr<QueueCaches> queues_;
};

}  // namespace atl::ctl
