// A child process that can't outlive us, the orphans that it may leave, and the signals that whoever watches
// over it waits for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/stop.h"

namespace atl {

struct Child {
  pid_t pid = -1;
  int error_pipe = -1;  // what it and its own children write to standard error; ours to close
};

/// Starts a program in a process group of its own (Ctrl-C at the terminal reaches us alone), with `output` as
/// standard output (−1: ours), no standard input, standard error into a pipe, and our environment but for
/// what another launcher (mpirun, srun) has put there. It is sent SIGKILL when we end.
/// Throws Error naming the program.
Child start_child(const std::vector<std::string>& command, int output = -1);

/// From now on orphaned grandchildren become our children, so that end_orphans() finds them.
void adopt_orphans();

/// Waits for every remaining child up to `patience`, then kills what is left. Returns how many had to be
/// killed.
int end_orphans(std::chrono::milliseconds patience);

/// Requests to stop and SIGCHLD as bytes to read while this exists; before it starts a child, so that none is
/// lost. They stay blocked in this thread afterwards: a second request doesn't end a program that is about to
/// tell how the first one ended. Not thread-safe.
class ChildSignals {
 public:
  ChildSignals();
  ~ChildSignals();
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;

  /// To poll: readable where one has arrived.
  int file() const { return file_; }
  /// The requests to stop that have arrived since; SIGCHLD is read and left out.
  std::vector<int> stops() const;

 private:
  const StopsTaken taken_;
  int file_ = -1;
};

}  // namespace atl
