#include "launch/rank_witness.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/stop.h"
#include "launch/rank_guard.h"
#include "launch/rank_words.h"

namespace atl {
namespace {

/// Nothing is waited for that isn't bounded by the rank's own life, nor by our parent's.
[[noreturn]] void outlive(pid_t child, const sigset_t& watched, Rank rank, const std::string& host) {
  prctl(PR_SET_NAME, "atoll-witness");  // whoever looks for ranks looks for "atoll"
  end_with_parent();
  int state = 0;
  bool asked_to_end = false, asked_to_stop = false;
  while (waitpid(child, &state, WNOHANG) != child) {
    int signal = 0;
    if (sigwait(&watched, &signal) != 0 || signal == SIGCHLD || signal == SIGINT) continue;
    asked_to_end = asked_to_end || signal == SIGTERM;
    asked_to_stop = asked_to_stop || signal == SIGUSR1;
    kill(child, signal);
  }
  if (WIFEXITED(state)) {
    if (WEXITSTATUS(state) == 0)
      dprintf(STDERR_FILENO, "%s\n", rank_news(rank, host, RankWord::kEnded).c_str());
    _exit(WEXITSTATUS(state));
  }
  const int signal = WTERMSIG(state);
  if (asked_to_stop && signal == SIGUSR1) _exit(kStoppedStatus);  // the rank didn't listen for it yet
  if (!asked_to_end) dprintf(STDERR_FILENO, "%s\n", rank_killed(rank, host, signal).c_str());
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the rank has left one, where one is wanted
  sigset_t all;
  sigfillset(&all);
  std::signal(signal, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace

pid_t leave_witness(Rank rank, const std::string& host) {
  sigset_t watched, before;
  sigemptyset(&watched);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1}) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t starter = getppid(), witness = getpid(), child = fork();
  if (child < 0) fail("rank {} on {}: no process for it: {}", rank, host, std::strerror(errno));
  if (child > 0) outlive(child, watched, rank, host);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != witness) _exit(128 + SIGKILL);  // it died before the line above
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return starter;
}

}  // namespace atl
