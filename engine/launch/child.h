// A child process that can't outlive us, and the orphans that it may leave.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace atl {

struct Child {
  pid_t pid = -1;
  int error_pipe = -1;  // what it and its own children write to standard error; ours to close
};

/// Starts a program in a process group of its own (Ctrl-C at the terminal reaches us alone), with `output` as
/// standard output (−1: ours), no standard input, standard error into a pipe, and our environment but for what another
/// launcher (mpirun, srun) has put there. It is sent SIGKILL when we end.
/// Throws Error naming the program.
Child start_child(const std::vector<std::string>& command, int output = -1);

/// From now on orphaned grandchildren become our children, so that end_orphans() finds them.
void adopt_orphans();

/// Waits for every remaining child up to `patience`, then kills what is left. Returns how many had to be
/// killed.
int end_orphans(std::chrono::milliseconds patience);

}  // namespace atl
