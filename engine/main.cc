// atoll: parses the command line, runs one command, turns its failure into a message and an exit status.
// Exit statuses: 0 done, 1 failed (the message says where and what to do), 2 usage, 130 stopped by the user
// after a checkpoint, 128 + n when a rank or mpirun was ended by signal n.
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "command/commands.h"

int main(int count, char** words) {
  // A write beyond `ulimit -f` then fails like one on a full disk, with a message, instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto commands = atl::commands();
  try {
    return atl::run_command_line(count, words, commands);
  } catch (const atl::Error& error) {
    std::fprintf(stderr, "atoll: %s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "atoll: out of memory: use more ranks on more machines, or a smaller model\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atoll: %s\n", error.what());
  }
  return atl::kStatusFailed;
}
