// What ranks write to standard output, passed on to ours. mpirun aborts, and crashes, where whoever reads its
// output goes away (`| head`): we take it from mpirun ourselves, and notice.
#pragma once

#include <poll.h>

#include <array>
#include <csignal>
#include <string>

namespace atl {

/// Where standard output is a terminal there is nothing to relay: a program that draws on it must have it
/// itself. SIGPIPE is ignored while a relay exists. Not thread-safe.
class OutputRelay {
 public:
  OutputRelay();
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  /// What a child takes for its standard output; −1: ours.
  int childs_end() const { return ends_[1]; }
  /// The child has its own by now: when it ends, so does what it writes.
  void close_childs_end();

  static constexpr std::size_t kFiles = 2;
  /// What poll() should wait for.
  std::array<pollfd, kFiles> files() const;
  /// Passes on what can be without waiting. True where something was moved.
  bool pass_on();
  /// Nobody reads our output any more; what ranks still write is dropped.
  bool unread() const { return unread_; }
  /// Something that was taken hasn't been passed on yet.
  bool holds_any() const { return !held_.empty(); }

 private:
  bool take();
  bool give();

  int ends_[2] = {-1, -1};
  std::string held_;
  bool unread_ = false;
  struct sigaction before_ {};
};

}  // namespace atl
