// Keeps the caches equal to the cluster. Each cache has a list and a watch, in a thread of its own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "operator/kube/reflector.h"
#include "operator/run/caches.h"
#include "operator/run/log.h"
#include "operator/run/metrics.h"

namespace atl::ctl {

class Feeds {
 public:
  /// Begins at once, and goes on until `stop`, which must also stop the client. All arguments must outlive
  /// the feeds.
  Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop);

  /// Whether every cache has been filled at least once.
  bool have_synced() const;
  /// The paths of the caches that were never filled, each with what the API server says.
  std::string missing() const;
  /// The paths of the caches that have received nothing for kPatience, whatever they hold; "" if there are
  /// none.
  std::string out_of_touch() const;
  /// Whether the caches are current enough to decide from.
  bool are_fresh() const { return have_synced() && out_of_touch().empty(); }
  void report(Metrics& metrics) const;

  static constexpr kube::Milliseconds kPatience{30'000};

 private:
  struct Feed {
    Feed(kube::Client& client, kube::Store& store, std::string shown, kube::ReflectorOptions options)
        : path(std::move(shown)), reflector(client, store, std::move(options)) {}
    std::string text() const;

    const std::string path;
    kube::Reflector reflector;
  };
  std::deque<Feed> feeds_;
  std::vector<std::jthread> threads_;  // last: they use the other members
};

inline Feeds::Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop) {
  for (const ctl::Feed& feed : caches.feeds()) {
    kube::ReflectorOptions options;
    options.path = feed.path;
    options.only = feed.only;
    options.may_be_absent = feed.may_be_absent;
    options.on_unreadable = [path = feed.path](const std::string& name, const std::string& why) {
      log_warning("{}: {} can't be read and is skipped, what was known of it is kept: {}", path, name, why);
    };
    // Two caches may have the same path and differ only in their field selectors, so the name includes these.
    const std::string fields = feed.only.fields.empty() ? "" : "?" + feed.only.fields;
    feeds_.emplace_back(client, *feed.store, feed.path + fields, options);
  }
  for (Feed& feed : feeds_) threads_.emplace_back([&feed, stop] { feed.reflector.run(stop); });
}

inline bool Feeds::have_synced() const {
  return std::ranges::all_of(feeds_, [](const Feed& feed) { return feed.reflector.has_synced(); });
}

inline std::string Feeds::Feed::text() const {
  const std::string problem = reflector.problem();
  return problem.empty() ? path : fmt::format("{} ({})", path, problem);
}

inline std::string Feeds::missing() const {
  std::vector<std::string> texts;
  for (const Feed& feed : feeds_)
    if (!feed.reflector.has_synced()) texts.push_back(feed.text());
  return joined(texts, "; ");
}

inline std::string Feeds::out_of_touch() const {
  std::vector<std::string> texts;
  for (const Feed& feed : feeds_)
    if (feed.reflector.out_of_touch() >= kPatience) texts.push_back(feed.text());
  return joined(texts, "; ");
}

inline void Feeds::report(Metrics& metrics) const {
  for (const Feed& feed : feeds_) metrics.set_lists(feed.path, feed.reflector.lists());
}

}  // namespace atl::ctl
