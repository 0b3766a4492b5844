// atoll: parses the command line, runs one command, turns its failure into a message and an exit status.
// Exit statuses: 0 done, 1 failed (the message says where and what to do), 2 usage, 130 stopped
// (a run: after a checkpoint, where it trained), 128 + n when a rank or mpirun was ended by signal n.
#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "command/commands.h"
#ifdef ATOLL_CUDA
#include "tensor/cuda/backend.h"
#endif

namespace {

/// Prints the message, without bytes that no terminal should get: paths and files' contents may have any.
void tell(const std::string& message) {
  std::fprintf(stderr, "atoll: %s\n", atl::printable(message).c_str());
}

/// Opens those of the three standard files that whoever started us has closed (`>&-`). Otherwise the next
/// file that a command opens, perhaps a checkpoint, would get the number, and what we print would go into it.
/// Each is opened the wrong way round, so that its use fails as before.
void open_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0) ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Ranks and who watches over them in a pod take requests to stop themselves.
bool minds_stops(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "";
  return command == "train" || command == "supervise";
}

/// Libraries may start threads of their own before main, and these would take signals that main alone blocks:
/// the loader calls this before it starts any library.
void block_stops(int count, char** words, char**) {
  if (minds_stops(count, words)) return;
  const sigset_t stops = atl::stop_signals();
  sigprocmask(SIG_BLOCK, &stops, nullptr);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*first_of_all)(int, char**, char**) = block_stops;

}  // namespace

int main(int count, char** words) {
  static_assert(atl::kStatusInterrupted == atl::kStoppedStatus);
  open_standard_files();
  if (!minds_stops(count, words)) atl::end_at_stops();
  // A write beyond `ulimit -f` then fails like one on a full disk, with a message, instead of ending the
  // process.
  std::signal(SIGXFSZ, SIG_IGN);
  // If the reader of our output closes it, as `head` does, we end without a word. The parent process may have
  // set another reaction.
  std::signal(SIGPIPE, SIG_DFL);
#ifdef ATOLL_CUDA
  atl::install_backend(&atl::cuda::backend());
#endif
  const auto commands = atl::commands();
  try {
    return atl::printed(atl::run_command_line(count, words, commands), "atoll");
  } catch (const atl::Error& error) {
    tell(error.what());
  } catch (
      const std::filesystem::filesystem_error& error) {  // whose own words name a function of the library
    tell(error.path1().string() + ": " + error.code().message() + "; check the path and its permissions");
  } catch (const std::exception& error) {
    tell(error.what());
  }
  return atl::kStatusFailed;
}
