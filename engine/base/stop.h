// Requests to stop this process: from the terminal (Ctrl-C, Ctrl-\, its end), from whoever started it. A
// command that does nothing about them ends at once, whatever library it is in, and what it was writing goes
// with it.
#pragma once

#include <csignal>
#include <functional>

namespace atl {

/// What a stopped program exits with.
inline constexpr int kStoppedStatus = 130;

/// SIGINT, SIGQUIT, SIGTERM, and SIGHUP unless it is ignored, as under nohup.
sigset_t stop_signals();

/// From now on a request to stop ends the process with kStoppedStatus, unless somebody holds StopsTaken. A
/// thread waits for it, and all others keep these signals blocked: METIS traps SIGTERM, and would take it for
/// an error of its own. Call once, before there are threads, or where those that there are have
/// stop_signals() blocked.
void end_at_stops();

/// While it exists, requests to stop are its owner's, who reads them from a signalfd of stop_signals(); they
/// stay blocked. One that came before and wasn't acted on is among them.
class StopsTaken {
 public:
  StopsTaken();
  ~StopsTaken();
  StopsTaken(const StopsTaken&) = delete;
  StopsTaken& operator=(const StopsTaken&) = delete;
};

/// While it exists, a request that ends the process calls `clean` first, from another thread: it removes what
/// else would be left behind. Who destroys it meanwhile waits for the end. Thread-safe.
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
