// Keeps the caches equal to the cluster: a list and a watch for each, in a thread of its own.
#pragma once

#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "operator/kube/reflector.h"
#include "operator/run/caches.h"
#include "operator/run/metrics.h"

namespace atl::ctl {

class Feeds {
 public:
  /// Begins at once and goes on until `stop`, which must be the client's as well. All arguments must outlive
  /// the feeds.
  Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop);

  /// Whether every cache has held everything at least once.
  bool have_synced() const;
  /// The paths of caches that haven't, each with what the API server says.
  std::string missing() const;
  /// The paths of caches that received nothing for kPatience, whatever they held before; "": none.
  std::string out_of_touch() const;
  /// Whether the caches are good enough to decide by.
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

}  // namespace atl::ctl
