// The events of watches, pushed into caches when a test wants it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "operator/run/caches.h"
#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

class FakeWatches {
 public:
  virtual ~FakeWatches() = default;

  std::string late;              // a plural of which the caches receive nothing
  std::set<std::string> broken;  // feeds, by name_of(), likewise

  /// Tells the caches everything that has changed since the last call.
  void push(Caches& caches);
  /// The same where the cluster's `changed` names all that has changed. Nothing else is looked at, so that it
  /// costs little in a large cluster.
  void push_changes(Caches& caches);
  /// The feed's watch was broken, and the server has forgotten its version (410): all objects come as a list.
  void relist(Caches& caches, const std::string& name);
  static std::string name_of(const Feed& feed) { return feed.path + feed.only.fields; }
  /// Begins with the caches' first list.
  void begin() { told_.clear(); }

 protected:
  /// All objects by path ("pods/cora-0-0"), with their versions.
  virtual std::map<std::string, json> all() = 0;
  /// Those that have changed since this or all() was last called; null: it is gone.
  virtual std::map<std::string, json> changes() = 0;

 private:
  using Told = std::map<std::string, json>;

  bool is_heard(const Feed& feed) const;
  void resume(const Feed& feed, const std::map<std::string, json>& now);
  /// Tells the feed of the object's present state, if that is new. An object that the feed doesn't select, or
  /// no more, is gone for it.
  void tell(const Feed& feed, const std::string& path, const json& object);
  static bool is_of(const Feed& feed, const std::string& path);
  static bool is_in(const Feed& feed, const std::string& path, const json& object);

  std::map<std::string, Told> told_;  // by feed, then by name
};

}  // namespace atl::ctl
