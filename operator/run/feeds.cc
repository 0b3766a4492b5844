#include "operator/run/feeds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "operator/run/log.h"

namespace atl::ctl {

Feeds::Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop) {
  for (const ctl::Feed& feed : caches.feeds()) {
    kube::ReflectorOptions options;
    options.path = feed.path;
    options.only = feed.only;
    options.may_be_absent = feed.may_be_absent;
    options.on_unreadable = [path = feed.path](const std::string& name, const std::string& why) {
      log_warning("{}: {} can't be read and is skipped, what was known of it is kept: {}", path, name, why);
    };
    // Two caches may have one path: the selection tells them apart.
    const std::string fields = feed.only.fields.empty() ? "" : "?" + feed.only.fields;
    feeds_.emplace_back(client, *feed.store, feed.path + fields, options);
  }
  for (Feed& feed : feeds_) threads_.emplace_back([&feed, stop] { feed.reflector.run(stop); });
}

bool Feeds::have_synced() const {
  return std::ranges::all_of(feeds_, [](const Feed& feed) { return feed.reflector.has_synced(); });
}

std::string Feeds::Feed::text() const {
  const std::string problem = reflector.problem();
  return problem.empty() ? path : fmt::format("{} ({})", path, problem);
}

std::string Feeds::missing() const {
  std::vector<std::string> texts;
  for (const Feed& feed : feeds_)
    if (!feed.reflector.has_synced()) texts.push_back(feed.text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string Feeds::out_of_touch() const {
  std::vector<std::string> texts;
  for (const Feed& feed : feeds_)
    if (feed.reflector.out_of_touch() >= kPatience) texts.push_back(feed.text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

void Feeds::report(Metrics& metrics) const {
  for (const Feed& feed : feeds_) metrics.set_lists(feed.path, feed.reflector.lists());
}

}  // namespace atl::ctl
