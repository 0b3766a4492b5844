// Pods of other owners, as far as they take room: every pod of the cluster that is bound and unfinished, and
// that none of our jobs owns. A large cluster has tens of thousands, so little is kept of each. Each node has
// a sum, which is updated with each change instead of being computed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator/kube/cache.h"
#include "operator/plan/snapshot.h"

namespace atl::ctl {

/// The sums of the requests of one node's pods.
struct NodeTaken {
  Resources others, daemons;  // daemons: the pods of daemon sets
};

/// Written by one Reflector, read by any thread.
class ThinPods final : public kube::Store {
 public:
  struct Handlers {
    /// Whether pods of jobs in the namespace are cached elsewhere, in full.
    std::function<bool(const std::string& space)> is_watched;
    /// Is called when pods take another amount of a node. `gives_room` says that some amount may have become
    /// less.
    std::function<void(const std::string& node, bool gives_room)> on_change;
  };
  explicit ThinPods(Handlers handlers) : handlers_(std::move(handlers)) {}

  void put(std::string_view object) override;
  void remove(std::string_view object) override;
  void begin_list() override;
  void end_list() override;

  NodeTaken taken(const std::string& node) const;
  /// The names of the node's pods by priority, without those of daemon sets.
  std::vector<std::string> on(const std::string& node) const;
  std::size_t size() const;
  /// The number of places in nodes_, most of which have pods.
  std::size_t places() const;
  /// The number of places in rests_, most of which some pod uses.
  std::size_t kinds() const;

 private:
  struct Thin {
    std::int64_t cores = 0, memory = 0;  // thousandths, bytes
    std::int32_t node = 0, rest = 0;     // indices in nodes_ and rests_
    std::int32_t priority = 0;
    std::uint32_t list = 0;  // list_ when the pod was last put
    bool of_daemon_set = false;

    bool takes_the_same(const Thin& other) const {
      return cores == other.cores && memory == other.memory && node == other.node && rest == other.rest &&
             of_daemon_set == other.of_daemon_set;
    }
  };
  struct NodeSum {
    std::string name;
    NodeTaken taken{};
    std::set<std::string_view> pods{};  // on the node: keys of pods_
  };
  struct Rest {
    Resources requests{};
    std::size_t pods = 0;  // pods that have these requests
  };

  Thin thin_of(const PodState& state, std::int32_t priority);
  Resources requests(const Thin& pod) const;
  Resources& sum(const Thin& pod);
  /// Returns the pod's node.
  std::string take_off(const std::string& name, const Thin& pod);
  void erase(const std::string& name);
  void leave_if_empty(std::int32_t place);
  std::int32_t node_at(const std::string& name);
  /// Counts one pod more with these requests. Returns their index in rests_.
  std::int32_t rest_at(const Resources& rest);
  void leave_rest(std::int32_t place);

  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Thin> pods_;  // by "namespace/name"
  std::vector<NodeSum> nodes_;
  std::vector<std::int32_t> free_places_;  // in nodes_: new nodes have new names
  std::unordered_map<std::string, std::int32_t> node_places_;
  std::vector<Rest> rests_;               // requests beside cores and memory; few kinds exist
  std::vector<std::int32_t> free_rests_;  // in rests_: pods may ask for ever new sizes of scratch
  std::map<Resources::Map, std::int32_t> rest_places_;
  std::uint32_t list_ = 0;
};

}  // namespace atl::ctl
