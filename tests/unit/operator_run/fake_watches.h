// The events of watches, pushed into caches when a test wants it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/run/caches.h"
#include "operator_controller/fake_api_server.h"

namespace atl::ctl {

class FakeWatches {
 public:
  virtual ~FakeWatches() = default;

  std::string late;              // a plural of which the caches receive nothing
  std::set<std::string> broken;  // feeds, by name_of(), likewise

  /// Tells the caches everything that has changed since the last call.
  void push(Caches& caches) {
    const auto now = all();
    for (const Feed& feed : caches.feeds())
      if (is_heard(feed)) resume(feed, now);
  }
  /// The same where the cluster's `changed` names all that has changed. Nothing else is looked at, so that it
  /// costs little in a large cluster.
  void push_changes(Caches& caches) {
    const auto now = changes();
    if (now.empty()) return;
    for (const Feed& feed : caches.feeds())
      for (const auto& [path, object] : now)
        if (is_heard(feed) && is_of(feed, path)) tell(feed, path, object);
  }
  /// The feed's watch was broken, and the server has forgotten its version (410): all objects come as a list.
  void relist(Caches& caches, const std::string& name) {
    const auto now = all();
    for (const Feed& feed : caches.feeds()) {
      if (name_of(feed) != name && is_heard(feed)) resume(feed, now);
      if (name_of(feed) != name) continue;
      told_[name].clear();
      feed.store->begin_list();
      for (const auto& [path, object] : now)
        if (is_of(feed, path)) tell(feed, path, object);
      feed.store->end_list();
    }
  }
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

  bool is_heard(const Feed& feed) const {
    return (late.empty() || !feed.path.ends_with("/" + late)) && !broken.contains(name_of(feed));
  }
  void resume(const Feed& feed, const std::map<std::string, json>& now) {
    std::vector<std::string> gone;
    const std::string plural = feed.path.substr(feed.path.rfind('/') + 1);
    for (const auto& [name, object] : told_[name_of(feed)])
      if (!now.contains(plural + "/" + name)) gone.push_back(plural + "/" + name);
    for (const std::string& path : gone) tell(feed, path, nullptr);
    for (const auto& [path, object] : now)
      if (is_of(feed, path)) tell(feed, path, object);
  }
  /// Tells the feed of the object's present state, if that is new. An object that the feed doesn't select, or
  /// no more, is gone for it.
  void tell(const Feed& feed, const std::string& path, const json& object) {
    Told& told = told_[name_of(feed)];
    const std::string name = path.substr(path.find('/') + 1);
    const auto before = told.find(name);
    if (!object.is_null() && is_in(feed, path, object)) {
      if (before != told.end() && before->second == object) return;
      told[name] = object;
      feed.store->put(object.dump());
    } else if (before != told.end()) {
      const std::string last = before->second.dump();
      told.erase(before);
      feed.store->remove(last);
    }
  }
  static bool is_of(const Feed& feed, const std::string& path) {
    return feed.path.ends_with("/" + path.substr(0, path.find('/')));
  }
  static bool is_in(const Feed& feed, const std::string& path, const json& object) {
    if (!is_of(feed, path)) return false;
    if (!feed.only.fields.empty())
      return !node_of(object).empty() && phase_of(object) != "Succeeded" && phase_of(object) != "Failed";
    return feed.only.labels.empty() || !label_of(object, kJobLabel).empty();
  }

  std::map<std::string, Told> told_;  // by feed, then by name
};

}  // namespace atl::ctl
