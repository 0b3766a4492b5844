// Keeps a Store equal to the cluster: a list, then a watch from the list's version on, for as long as we run.
// A watch that ends is resumed from the last version received. If the server has forgotten a version (410), a
// new list follows; objects that were deleted meanwhile are missing in it and leave the store. Versions are
// opaque, and are taken over only once the store has the objects that they stand for.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "operator/kube/cache.h"
#include "operator/kube/client.h"
#include "operator/kube/clock.h"
#include "operator/kube/json_cut.h"

namespace atl::kube {

struct ReflectorOptions {
  std::string path;  // of the resource
  Selection only;
  int page = 500;
  bool may_be_absent = false;  // a server that doesn't know the resource (404) has no objects of it, for now
  BackoffRule backoff{Milliseconds(800), Milliseconds(30'000), 1.0};
  /// The longest silence of a watch. Servers send a bookmark every minute; a half-open connection brings
  /// none.
  Milliseconds quiet{150'000};
  std::chrono::seconds lifetime{300};  // of a watch; lengthened at random up to twice that
  /// Called with an object that the store can't take, and the reason. The object is skipped, so that others
  /// don't suffer for it.
  std::function<void(const std::string& name, const std::string& why)> on_unreadable =
      [](const std::string&, const std::string&) {};
};

class Reflector {
 public:
  /// All arguments must outlive the reflector.
  Reflector(Client& client, Store& store, ReflectorOptions options, Clock& clock = steady_clock());

  /// Runs until `stop`, which must be the client's as well, so that it ends every wait.
  void run(const std::stop_token& stop);

  // From any thread.
  /// Whether the store has held everything at least once.
  bool has_synced() const { return lists_ > 0 || is_absent_; }
  /// Lists that came whole: the first, and each relist.
  int lists() const { return lists_; }
  /// How long the store has received nothing. Zero while a watch is open, however quiet.
  Milliseconds out_of_touch() const;
  /// The server's refusal, or why there was no answer.
  std::string problem() const;

 private:
  /// What to do after a step: go on, or first wait, at least so long.
  struct Next {
    bool is_good;
    Milliseconds at_least{0};
  };
  Next list();
  Next watch();
  Next take(const WatchEvent& event);
  void tell(void (Store::*how)(std::string_view), std::string_view object);
  void find_touch();
  void lose_touch(const std::string& why);
  std::chrono::seconds lifetime();

  Client& client_;
  Store& store_;
  const ReflectorOptions options_;
  Clock& clock_;
  Backoff backoff_;
  std::minstd_rand random_{std::random_device{}()};
  std::atomic<int> lists_ = 0;
  std::atomic<bool> is_absent_ = false;
  std::atomic<Clock::Time> silent_since_;  // kInTouch: it isn't silent
  mutable std::mutex mutex_;               // guards problem_
  std::string problem_;
  std::string version_;             // to watch from; "": list first
  std::string list_version_ = "0";  // not older than this: "0" any, which spares etcd; "" the latest
};

}  // namespace atl::kube
