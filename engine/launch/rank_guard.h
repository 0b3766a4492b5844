// A rank's side of being supervised: it ends when whoever started it is gone, and it is asked, not killed, to
// stop.
#pragma once

#include <atomic>

namespace atl {

/// From now on this process is killed when its parent (mpirun, or `atoll run`) ends, however it ends: by the
/// kernel (PR_SET_PDEATHSIG), and, where that is lost, by a thread that looks at the parent twice a second.
/// Call once, first thing.
void end_with_parent();

/// Set by SIGUSR1, which `atoll run` sends (and mpirun hands on) when the user asks to stop. The same flag
/// each call.
const std::atomic<bool>& stop_requested();

/// Installs the handler of SIGUSR1; SIGINT is left to `atoll run`.
void listen_for_stop();

}  // namespace atl
