// A child process that can't outlive us, the orphans that it may leave, and the signals that its watcher
// waits for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/stop.h"

namespace atl {

struct Child {
  pid_t pid = -1;
  int error_pipe = -1;  // reads what it and its own children write to standard error; ours to close
};

/// Starts a program in its own process group, so that Ctrl-C at the terminal reaches us alone. It gets
/// `output` as standard output (−1: ours), no standard input, a pipe as standard error, and our environment
/// without the variables of another launcher (mpirun, srun). It is sent SIGKILL when we end. Throws Error
/// naming the program.
Child start_child(const std::vector<std::string>& command, int output = -1);

/// From now on orphaned grandchildren become our children, so that end_orphans() finds them.
void adopt_orphans();

/// Waits for every remaining child up to `patience`, then kills what is left. Returns how many had to be
/// killed.
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

  /// For poll(): readable when a signal has arrived.
  int file() const { return file_; }
  /// The requests to stop that have arrived since the last call. SIGCHLD is read too, but left out.
  std::vector<int> stops() const;

 private:
  const StopsTaken taken_;
  int file_ = -1;
};

}  // namespace atl
