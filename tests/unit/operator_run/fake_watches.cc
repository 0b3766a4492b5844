#include "operator_run/fake_watches.h"

#include "operator/objects/names.h"

namespace atl::ctl {

void FakeWatches::push(Caches& caches) {
  const auto now = all();
  for (const Feed& feed : caches.feeds())
    if (is_heard(feed)) resume(feed, now);
}

void FakeWatches::push_changes(Caches& caches) {
  const auto now = changes();
  if (now.empty()) return;
  for (const Feed& feed : caches.feeds())
    for (const auto& [path, object] : now)
      if (is_heard(feed) && is_of(feed, path)) tell(feed, path, object);
}

void FakeWatches::relist(Caches& caches, const std::string& name) {
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

bool FakeWatches::is_heard(const Feed& feed) const {
  return (late.empty() || !feed.path.ends_with("/" + late)) && !broken.contains(name_of(feed));
}

void FakeWatches::resume(const Feed& feed, const std::map<std::string, json>& now) {
  std::vector<std::string> gone;
  const std::string plural = feed.path.substr(feed.path.rfind('/') + 1);
  for (const auto& [name, object] : told_[name_of(feed)])
    if (!now.contains(plural + "/" + name)) gone.push_back(plural + "/" + name);
  for (const std::string& path : gone) tell(feed, path, nullptr);
  for (const auto& [path, object] : now)
    if (is_of(feed, path)) tell(feed, path, object);
}

void FakeWatches::tell(const Feed& feed, const std::string& path, const json& object) {
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

bool FakeWatches::is_of(const Feed& feed, const std::string& path) {
  return feed.path.ends_with("/" + path.substr(0, path.find('/')));
}

bool FakeWatches::is_in(const Feed& feed, const std::string& path, const json& object) {
  if (!is_of(feed, path)) return false;
  if (!feed.only.fields.empty())
    return !node_of(object).empty() && phase_of(object) != "Succeeded" && phase_of(object) != "Failed";
  return feed.only.labels.empty() || !label_of(object, kJobLabel).empty();
}

}  // namespace atl::ctl
