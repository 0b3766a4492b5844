// Passes what ranks write to standard output on to ours. mpirun aborts or crashes where its reader goes away
// (`| head`), so we read its output ourselves and notice.
#pragma once

#include <poll.h>

#include <array>
#include <csignal>
#include <string>

namespace atl {

/// Relays nothing where standard output is a terminal, since a program that draws on it needs the terminal
/// itself. SIGPIPE is ignored while a relay exists. Not thread-safe.
class OutputRelay {
 public:
  OutputRelay();
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  /// The child's standard output; −1: ours.
  int childs_end() const { return ends_[1]; }
  /// Call once the child has its own copy, so that its output ends when it does.
  void close_childs_end();

  static constexpr std::size_t kFiles = 2;
  /// For poll().
  std::array<pollfd, kFiles> files() const;
  /// Passes on what it can without waiting. True where something was moved.
  bool pass_on();
  /// Nobody reads our output any more; what ranks still write is dropped.
  bool unread() const { return unread_; }
  /// Whether something was read and not yet passed on.
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
