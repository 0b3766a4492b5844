// atoll: parses the command line, runs one command, turns its failure into a message and an exit status.
// Exit statuses: 0 done, 1 failed (the message says where and what to do), 2 usage, 130 stopped by the user
// after a checkpoint, 128 + n when a rank or mpirun was ended by signal n.
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "command/commands.h"
#ifdef ATOLL_CUDA
#include "tensor/cuda/backend.h"
#endif

namespace {

/// What a command prints is its result: it has failed where that can't be written.
int printed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "atoll: standard output: can't be written; is the disk full?\n");
  return status == 0 ? atl::kStatusFailed : status;
}

}  // namespace

int main(int count, char** words) {
  // A write beyond `ulimit -f` then fails like one on a full disk, with a message, instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // Who closes our output, as `head` does, ends us without a word, whatever whoever started us has set.
  std::signal(SIGPIPE, SIG_DFL);
#ifdef ATOLL_CUDA
  atl::install_backend(&atl::cuda::backend());
#endif
  const auto commands = atl::commands();
  try {
    return printed(atl::run_command_line(count, words, commands));
  } catch (const atl::Error& error) {
    std::fprintf(stderr, "atoll: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atoll: %s\n", error.what());
  }
  return atl::kStatusFailed;
}
