// A body on its way from the HTTP library's threads, which must never wait, to the one thread that reads it. There
// is no buffer: a piece is offered where it lies and given back once it is read, so that a library which waits for
// that reads nothing more from the server meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

namespace atl::kube {

/// All of it may be called from any thread; offers come one at a time, reads too.
class Handoff {
 public:
  using Release = std::function<void(bool taken)>;
  using Clock = std::chrono::steady_clock;

  /// Lends a piece until `release` is called, once, from whichever thread; not taken: nobody wants the rest.
  void offer(std::string_view piece, Release release);
  /// No more pieces come, because the body has ended or because of `error`. The first call counts.
  void finish(std::exception_ptr error = nullptr);
  /// Copies some of what is offered; 0 at the end of the body, nothing when `until` came first. Throws the error.
  std::optional<std::size_t> take(char* into, std::size_t size, Clock::time_point until);
  /// Nobody will read on: reads throw `why`, pieces are given back untaken. The first call counts, and none after
  /// the end of the body.
  void close(std::exception_ptr why);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view piece_;
  Release release_;  // empty where nothing is offered
  bool finished_ = false;
  std::exception_ptr error_;
};

}  // namespace atl::kube
