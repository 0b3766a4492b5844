// Keeps the caches like the cluster: a list and a watch for each, in a thread of its own.
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
  /// Begins at once and goes on until `stop`, which must be the client's as well. All must outlive the feeds.
  Feeds(kube::Client& client, Caches& caches, const std::stop_token& stop);

  /// Every cache has held everything at least once.
  bool have_synced() const;
  /// The paths of those that haven't.
  std::string missing() const;
  void report(Metrics& metrics) const;

 private:
  struct Feed {
    Feed(kube::Client& client, kube::Store& store, std::string shown, kube::ReflectorOptions options)
        : path(std::move(shown)), reflector(client, store, std::move(options)) {}
    const std::string path;
    kube::Reflector reflector;
  };
  std::deque<Feed> feeds_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace atl::ctl
