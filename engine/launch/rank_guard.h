// A rank's side of being supervised: it ends when its starter is gone, and stops when it is asked, without
// being killed. Before it begins, it ends ranks of an earlier attempt.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/types.h"

namespace atl {

/// From now on this process is killed when its parent (mpirun, or `atoll run`) ends in any way: by the kernel
/// (PR_SET_PDEATHSIG) and, in case that signal is lost, by a thread that checks the parent twice a second.
/// Call once, before anything else.
void end_with_parent();

/// From now on SIGUSR1 ends this process at once with kStoppedStatus, since no training could be lost yet.
/// `atoll run` sends it, through mpirun, when the user asks to stop. SIGINT is left to `atoll run`.
void listen_for_stop();

/// From now on SIGUSR1 sets stop_requested() instead, so that the step under way ends and a checkpoint
/// follows.
void let_steps_end();

/// The same flag each call.
const std::atomic<bool>& stop_requested();

/// Unless this object is destroyed within `seconds`, the process says `last_words` on standard error and
/// exits with `status`. It guards a call into a library that may never return and can't be cancelled. Time in
/// which the process is paused (kill -STOP, a debugger, a frozen container) doesn't count. `meanwhile` is
/// said at once and then each half a second.
class EndUnlessDone {
 public:
  EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status, std::string meanwhile = "");
  ~EndUnlessDone();
  EndUnlessDone(const EndUnlessDone&) = delete;
  EndUnlessDone& operator=(const EndUnlessDone&) = delete;

 private:
  /// Waits for `time`, or until the call is done, and returns whether it is.
  bool wait_until_done(std::chrono::milliseconds time);

  std::mutex lock_;
  std::condition_variable news_;
  bool done_ = false;
  std::thread thread_;
};

// What ranks and their witnesses say to `launch`: how far each rank is, and the last words of one that fails.
// mpirun may never say it. It reports only one rank that ends badly, first waits for every host's daemon to
// end, even an unreachable one, and waits for ever for a rank that doesn't end.

/// kStarted: from now on the rank obeys requests to stop. kLeaves: it has nothing more to exchange and is
/// about to end; it says so repeatedly, so that a silent rank can be told from those that wait for it.
/// kEnded: it has ended well, as its witness says.
enum class RankWord { kStarted, kLeaves, kEnded };
struct RankNews {
  int rank = -1;
  std::string host;
  RankWord word = RankWord::kStarted;
};

/// One line: "atoll-rank: 1 on server1 has started".
std::string rank_news(int rank, const std::string& host, RankWord word);
/// Nothing where the line is no such news.
std::optional<RankNews> read_rank_news(const std::string& line);

/// One line: "atoll: rank 1 on server1: why".
std::string rank_failure(int rank, const std::string& host, const std::string& why);
/// The words of the rank's witness: "atoll: rank 1 on server1: ended by signal 9".
std::string rank_killed(int rank, const std::string& host, int signal);

struct FailedRank {
  int rank = -1;
  std::string host;
  int signal = 0;  // the signal that ended it; 0: it has failed by itself
};
/// Nothing where the line reports no failure.
std::optional<FailedRank> read_rank_failure(const std::string& line);

// A witness outlives the rank and says how it ended. mpirun reports only the first rank that ends badly,
// which may be one whose connection to a killed rank broke: Open MPI ends such a rank at once, and the report
// on it may arrive first.

/// Divides this process. The call returns in the child, which is the rank. The parent stays as its witness:
/// it hands on the signals that ask the rank to end, and ends as the rank does. On standard error, in the
/// words above, it says that the rank has ended well, or that a signal has ended it that wasn't sent through
/// the parent. Neither outlives the other. Returns the process that has started the rank, which is the same
/// for all ranks of a job on one machine. Call before there are threads. Throws Error where no process can be
/// started.
pid_t leave_witness(Rank rank, const std::string& host);

// Ranks of an earlier attempt that still run in our pod. Nobody tells them to end, because their launcher's
// machine is cut off, and they hold the ports and the memory that our ranks need.

/// Kills every `train` process here of the same run with a lower attempt. Returns when they and all that they
/// held are gone, or after some seconds. A run numbers its attempts itself (--run, --attempt).
void end_earlier_ranks(const std::string& run, int attempt);

}  // namespace atl
