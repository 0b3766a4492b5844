#include "launch/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/error.h"

namespace atl {
namespace {

/// Our environment without the variables of another launcher, of which we may be a rank. A rank of ours would
/// take its number from them, and mpirun refuses to start within another mpirun.
std::vector<char*> variables_of_child() {
  constexpr std::string_view kOfRanks[] = {
      "PMI_",       "PMIX_",     "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_SIZE", "OMPI_NUM_APP_CTX",
      "OMPI_FIRST", "OMPI_APP_", "OMPI_ARGV",        "OMPI_COMMAND",       "OMPI_FILE_"};
  constexpr std::string_view kOfRanksSettings[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                                   "OMPI_MCA_initial_wdir"};
  // Without this variable, kOfRanksSettings are the user's own.
  const bool is_rank = std::getenv("OMPI_UNIVERSE_SIZE") != nullptr;
  std::vector<char*> kept;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable(*each);
    const auto begins = [&](std::string_view with) { return variable.starts_with(with); };
    if (!std::ranges::any_of(kOfRanks, begins) && !(is_rank && std::ranges::any_of(kOfRanksSettings, begins)))
      kept.push_back(*each);
  }
  kept.push_back(nullptr);
  return kept;
}

/// Becomes the program. Runs in the child between fork and exec, where only few calls are safe.
[[noreturn]] void become(char* const* arguments, char* const* variables, int output, int error_pipe,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl()
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  dup2(error_pipe, STDERR_FILENO);
  execve(arguments[0], arguments, variables);
  dprintf(STDERR_FILENO, "%s: can't be started: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream list("/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/children");
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

/// Reaps the children that have ended; false when none is left.
bool reap() {
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno != EINTR) return false;
  }
}

bool reap_until(std::chrono::steady_clock::time_point deadline) {
  while (reap()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

Child start_child(const std::vector<std::string>& command, int output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("a pipe for {}: {}", command[0], std::strerror(errno));
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::vector<char*> variables = variables_of_child();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) fail("{} can't be started: {}", command[0], std::strerror(errno));
  if (pid == 0) become(arguments.data(), variables.data(), output, ends[1], parent);
  close(ends[1]);
  return {pid, ends[0]};
}

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int end_orphans(std::chrono::milliseconds patience) {
  if (reap_until(std::chrono::steady_clock::now() + patience)) return 0;
  int killed = 0;
  // The children of a killed process become ours, so this repeats until none is left.
  for (int round = 0; round < 10; ++round) {
    for (const pid_t pid : children()) killed += kill(pid, SIGKILL) == 0;
    if (reap_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(500))) break;
  }
  return killed;
}

ChildSignals::ChildSignals() {
  sigset_t watched = stop_signals();
  sigaddset(&watched, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  file_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

ChildSignals::~ChildSignals() {
  close(file_);
}

std::vector<int> ChildSignals::stops() const {
  std::vector<int> signals;
  for (signalfd_siginfo info; read(file_, &info, sizeof info) == sizeof info;)
    if (info.ssi_signo != SIGCHLD) signals.push_back(int(info.ssi_signo));
  return signals;
}

namespace {

constexpr std::size_t kPiece = 4096;  // bytes that a pipe surely takes when it is ready (PIPE_BUF)

bool is_ready(int file, short events) {
  pollfd one{file, events, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

OutputRelay::OutputRelay() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before_);
  if (isatty(STDOUT_FILENO) == 1) return;
  if (pipe2(ends_, O_CLOEXEC) != 0) fail("a pipe for the ranks' output: {}", std::strerror(errno));
}

OutputRelay::~OutputRelay() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
  sigaction(SIGPIPE, &before_, nullptr);
}

void OutputRelay::close_childs_end() {
  if (ends_[1] >= 0) close(ends_[1]);
  ends_[1] = -1;
}

std::array<pollfd, OutputRelay::kFiles> OutputRelay::files() const {
  return {{{held_.empty() ? ends_[0] : -1, POLLIN, 0}, {held_.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}}};
}

bool OutputRelay::pass_on() {
  const bool taken = take();
  return give() || taken;
}

bool OutputRelay::take() {
  if (!held_.empty() || ends_[0] < 0 || !is_ready(ends_[0], POLLIN)) return false;
  char buffer[kPiece];
  const ssize_t size = read(ends_[0], buffer, sizeof buffer);
  if (size <= 0) {
    close(ends_[0]);
    ends_[0] = -1;
    return false;
  }
  if (!unread_) held_.assign(buffer, std::size_t(size));
  return true;
}

bool OutputRelay::give() {
  if (held_.empty() || !is_ready(STDOUT_FILENO, POLLOUT)) return false;
  const ssize_t size = write(STDOUT_FILENO, held_.data(), std::min(held_.size(), kPiece));
  if (size < 0 && errno == EINTR) return false;
  unread_ = size < 0 && errno == EPIPE;
  // What can't be written is dropped, because a full disk mustn't end a training. failure() tells of it at
  // the end.
  if (size < 0 && failure_ == 0 && errno != EPIPE && errno != EBADF) failure_ = errno;
  held_.erase(0, size < 0 ? std::string::npos : std::size_t(size));
  return true;
}

}  // namespace atl
