// A body on its way from the HTTP library's threads, which must never wait, to the one thread that reads it. There
// is no buffer: a piece is offered where it lies and given back once it is read, so that a library which waits for
// that reads nothing more from the server meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/transport.h"

namespace atl::kube {

/// Why an exchange has failed: an error that any number of threads may throw, each its own copy.
struct Failure {
  TransportError::Kind kind;
  std::string why;

  [[noreturn]] void raise() const { throw TransportError(kind, why); }
};

/// All of it may be called from any thread; offers come one at a time, reads too.
class Handoff {
 public:
  using Release = std::function<void(bool taken)>;
  using Time = std::chrono::steady_clock::time_point;

  /// Lends a piece until `release` is called, once, from whichever thread; not taken: nobody wants the rest.
  void offer(std::string_view piece, Release release);
  /// No more pieces come: the body has ended.
  void finish();
  /// Copies some of what is offered; 0 at the end of the body, nothing when `until` came first. Throws the failure.
  std::optional<std::size_t> take(char* into, std::size_t size, Time until);
  /// The body has failed, or nobody will read on: reads throw, pieces are given back untaken. The first call counts,
  /// and none after the end of the body.
  void fail(Failure why);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view piece_;
  Release release_;  // empty where nothing is offered
  bool finished_ = false;
  std::optional<Failure> failure_;
};

}  // namespace atl::kube
