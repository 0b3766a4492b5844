// A child process that can't outlive us, the orphans that it may leave, the signals that its watcher waits
// for, and the relay of its output.
#pragma once

#include <poll.h>
#include <sys/types.h>
#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/stop.h"

namespace atl {

struct Child {
  pid_t pid = -1;
  int error_pipe = -1;  // reads the standard error of the child and of its children; the caller closes it
};

/// Starts a program in its own process group, so that Ctrl-C at the terminal reaches us alone. The program
/// gets `output` as standard output (−1: ours), no standard input, a pipe as standard error, and our
/// environment without the variables of another launcher (mpirun, srun). It is sent SIGKILL when we end.
/// Throws Error naming the program.
Child start_child(const std::vector<std::string>& command, int output = -1);

/// From now on orphaned grandchildren become our children, so that end_orphans() finds them.
void adopt_orphans();

/// Waits for every remaining child for up to `patience`, then kills those that are left. Returns how many had
/// to be killed.
int end_orphans(std::chrono::milliseconds patience);

/// While this exists, requests to stop and SIGCHLD arrive as bytes to read. Create it before a child is
/// started, so that none is lost. The signals stay blocked in this thread afterwards, so that a second
/// request doesn't end a program that is about to tell how the child ended. Not thread-safe.
class ChildSignals {
 public:
  ChildSignals();
  ~ChildSignals();
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;

  /// The file to poll: it is readable when a signal has arrived.
  int file() const { return file_; }
  /// The requests to stop that have arrived since the last call. SIGCHLD is read too, but left out.
  std::vector<int> stops() const;

 private:
  const StopsTaken taken_;
  int file_ = -1;
};

// Passes what ranks write to standard output on to our own standard output. mpirun aborts or crashes if its
// reader goes away (`| head`), so we read its output ourselves and notice.

/// A relay of the ranks' output. It relays nothing if standard output is a terminal, since a program that
/// draws on the terminal needs it as its own output. SIGPIPE is ignored while a relay exists. Not
/// thread-safe.
class OutputRelay {
 public:
  OutputRelay();
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  /// The child's standard output; −1: ours.
  int childs_end() const { return ends_[1]; }
  /// Call once the child has its own copy of that end. Then the child's output ends when the child does.
  void close_childs_end();

  static constexpr std::size_t kFiles = 2;
  /// The files to poll.
  std::array<pollfd, kFiles> files() const;
  /// Passes on what it can without waiting. True if bytes were moved.
  bool pass_on();
  /// True if nobody reads our output any more. What ranks still write is then dropped.
  bool unread() const { return unread_; }
  /// The errno of the first failure for which output was dropped, as on a full disk. 0: nothing was dropped,
  /// or nobody reads our output, or it was closed before we started.
  int failure() const { return failure_; }
  /// Whether bytes were read and not yet passed on.
  bool holds_any() const { return !held_.empty(); }

 private:
  bool take();
  bool give();

  int ends_[2] = {-1, -1};
  std::string held_;
  bool unread_ = false;
  int failure_ = 0;
  struct sigaction before_ {};
};

}  // namespace atl
