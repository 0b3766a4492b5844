// Requests to stop this process: from the terminal (Ctrl-C, Ctrl-\, hang-up) or from the process that started
// it. A command that doesn't handle them ends at once, whatever library it is in, and the files that it was
// writing are removed.
#pragma once

#include <csignal>
#include <functional>

namespace atl {

/// The exit status of a stopped program.
inline constexpr int kStoppedStatus = 130;

/// SIGINT, SIGQUIT, SIGTERM, and SIGHUP unless it is ignored, as under nohup.
sigset_t stop_signals();

/// From now on a request to stop ends the process with kStoppedStatus, unless somebody holds StopsTaken. One
/// thread waits for requests, and all others keep the signals blocked: METIS traps SIGTERM, and would take it
/// for an error of its own. Call once, before there are other threads, or where those have stop_signals()
/// blocked.
void end_at_stops();

/// While it exists, its owner handles requests to stop and reads them from a signalfd of stop_signals(); the
/// signals stay blocked. An earlier request that wasn't acted on is among them.
class StopsTaken {
 public:
  StopsTaken();
  ~StopsTaken();
  StopsTaken(const StopsTaken&) = delete;
  StopsTaken& operator=(const StopsTaken&) = delete;
};

/// While it exists, a request that ends the process first calls `clean`, from another thread, to remove what
/// would be left behind. A destructor called meanwhile blocks until the process has ended. Thread-safe.
class AtStop {
 public:
  explicit AtStop(std::function<void()> clean);
  ~AtStop();
  AtStop(const AtStop&) = delete;
  AtStop& operator=(const AtStop&) = delete;

 private:
  const std::function<void()> clean_;
};

}  // namespace atl
