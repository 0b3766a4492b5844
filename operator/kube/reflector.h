// Keeps a Store equal to the cluster, for as long as we run: it lists a resource, then watches it from the
// list's version on. A watch that ends is resumed from the last version received. If the server has forgotten
// a version (410), the resource is listed again; objects that were deleted in between are missing in the list
// and leave the store. Versions are opaque. A version is remembered only once the store has the objects that
// it stands for.
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
  std::string path;  // the path of the resource
  Selection only;
  int page = 500;
  bool may_be_absent = false;  // a server without the resource (404) has no objects of it for now
  BackoffRule backoff{Milliseconds(800), Milliseconds(30'000), 1.0};
  /// The longest time for which a watch may be silent. Servers send a bookmark every minute; a half-open
  /// connection delivers none.
  Milliseconds quiet{150'000};
  std::chrono::seconds lifetime{300};  // of a watch; each gets up to twice as long, at random
  /// Called with an object that the store can't take, and with the reason. The object is skipped, so that
  /// others aren't held up.
  std::function<void(const std::string& name, const std::string& why)> on_unreadable =
      [](const std::string&, const std::string&) {};
};

class Reflector {
 public:
  /// All arguments must outlive the reflector.
  Reflector(Client& client, Store& store, ReflectorOptions options, Clock& clock = steady_clock());

  /// Runs until `stop`, which must also stop the client, so that it ends every wait.
  void run(const std::stop_token& stop);

  // From any thread.
  /// Whether the store has been filled at least once.
  bool has_synced() const { return lists_ > 0 || is_absent_; }
  /// The number of complete lists: the first one, and each later one.
  int lists() const { return lists_; }
  /// How long the store has received nothing. Zero while a watch is open, however quiet the watch is.
  Milliseconds out_of_touch() const;
  /// The server's last refusal, or why there was no answer.
  std::string problem() const;

 private:
  /// What to do after a step: go on, or wait first, for at least the given time.
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
  std::atomic<Clock::Time> silent_since_;  // kInTouch while not silent
  mutable std::mutex mutex_;               // guards problem_
  std::string problem_;
  std::string version_;             // the version from which to watch; "": list first
  std::string list_version_ = "0";  // least version to list: "0" any, to spare etcd; "" the latest
};

}  // namespace atl::kube
