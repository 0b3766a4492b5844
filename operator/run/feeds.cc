#include "operator/run/feeds.h"

#include <algorithm>

namespace atl::ctl {

Feeds::Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop) {
  for (const ctl::Feed& feed : caches.feeds()) {
    kube::ReflectorOptions options;
    options.path = feed.path;
    options.only = feed.only;
    options.may_be_absent = feed.may_be_absent;
    // Two caches may be of one path: the selection tells them apart.
    const std::string fields = feed.only.fields.empty() ? "" : "?" + feed.only.fields;
    feeds_.emplace_back(client, *feed.store, feed.path + fields, options);
  }
  for (Feed& feed : feeds_) threads_.emplace_back([&feed, stop] { feed.reflector.run(stop); });
}

bool Feeds::have_synced() const {
  return std::ranges::all_of(feeds_, [](const Feed& feed) { return feed.reflector.has_synced(); });
}

std::string Feeds::missing() const {
  std::string paths;
  for (const Feed& feed : feeds_)
    if (!feed.reflector.has_synced()) paths += (paths.empty() ? "" : " ") + feed.path;
  return paths;
}

void Feeds::report(Metrics& metrics) const {
  for (const Feed& feed : feeds_) metrics.set_lists(feed.path, feed.reflector.lists());
}

}  // namespace atl::ctl
