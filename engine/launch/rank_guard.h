// A rank's side of being supervised. It ends when the process that started it is gone, and stops when asked,
// without being killed. Before it begins, it ends ranks of an earlier attempt.
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

/// From now on this process is killed when its parent (mpirun, or `atoll run`) ends in any way. The kernel
/// does this (PR_SET_PDEATHSIG) and, in case that signal is lost, a thread that checks the parent twice a
/// second. Call once, before anything else.
void end_with_parent();

/// From now on SIGUSR1 ends this process at once with kStoppedStatus, since no training could be lost yet.
/// `atoll run` sends it, through mpirun, when the user asks to stop. SIGINT is left to `atoll run`.
void listen_for_stop();

/// From now on SIGUSR1 sets stop_requested() instead, so that the step under way ends and a checkpoint
/// follows.
void let_steps_end();

/// The flag that SIGUSR1 sets; each call returns the same one.
const std::atomic<bool>& stop_requested();

/// Ends the process unless this object is destroyed within `seconds`: the process says `last_words` on
/// standard error and exits with `status`. This guards a call into a library that may never return and can't
/// be cancelled. Time in which the process is paused (kill -STOP, a debugger, a frozen container) doesn't
/// count. `meanwhile` is said at once and then each half a second.
class EndUnlessDone {
 public:
  EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status, std::string meanwhile = "");
  ~EndUnlessDone();
  EndUnlessDone(const EndUnlessDone&) = delete;
  EndUnlessDone& operator=(const EndUnlessDone&) = delete;

 private:
  /// Waits for `time`, or until the object is being destroyed. Returns whether it is.
  bool wait_until_done(std::chrono::milliseconds time);

  std::mutex lock_;
  std::condition_variable news_;
  bool done_ = false;
  std::thread thread_;
};

// What ranks and their witnesses say to `launch`: how far each rank is, and the last words of a rank that
// fails. mpirun may never say this. It reports only one rank that ends badly, and only once every host's
// daemon has ended, even an unreachable one. It waits for ever for a rank that doesn't end.

/// A word about a rank. kStarted: from now on the rank obeys requests to stop. kLeaves: the rank has nothing
/// more to exchange and is about to end; it says so repeatedly, so that a silent rank can be told from those
/// that wait for it. kEnded: the rank has ended well, as its witness says.
enum class RankWord { kStarted, kLeaves, kEnded };
struct RankNews {
  int rank = -1;
  std::string host;
  RankWord word = RankWord::kStarted;
};

/// The news as one line: "atoll-rank: 1 on server1 has started".
std::string rank_news(int rank, const std::string& host, RankWord word);
/// Reads a line of rank_news(); nothing if the line is no such news.
std::optional<RankNews> read_rank_news(const std::string& line);

/// A failure as one line: "atoll: rank 1 on server1: why".
std::string rank_failure(int rank, const std::string& host, const std::string& why);
/// The words of the rank's witness: "atoll: rank 1 on server1: ended by signal 9".
std::string rank_killed(int rank, const std::string& host, int signal);

struct FailedRank {
  int rank = -1;
  std::string host;
  int signal = 0;  // the signal that ended the rank; 0: the rank has failed by itself
};
/// Reads a line of rank_failure() or rank_killed(); nothing if the line reports no failure.
std::optional<FailedRank> read_rank_failure(const std::string& line);

// A witness is a process that outlives the rank and says how the rank ended. mpirun reports only the first
// rank that ends badly. That may be a rank whose connection to a killed rank broke: Open MPI ends such a rank
// at once, and the report on it may arrive first.

/// Divides this process. The call returns in the child, which is the rank. The parent stays as the rank's
/// witness: it hands on the signals that ask the rank to end, and ends as the rank does. It says on standard
/// error, in the words above, that the rank has ended well, or that a signal has ended the rank that the
/// parent didn't hand on. Neither outlives the other. Returns the process that has started the rank, which is
/// the same for all ranks of a job on one machine. Call before there are threads. Throws Error if no process
/// can be started.
pid_t leave_witness(Rank rank, const std::string& host);

// Ends ranks of an earlier attempt that still run in our pod. Their launcher can't tell them to end, because
// its machine is cut off, and they hold the ports and the memory that our ranks need.

/// Kills every `train` process in this pod of the same run with a lower attempt. Returns when the processes
/// and all that they held are gone, or after some seconds. A run numbers its attempts itself (--run,
/// --attempt).
void end_earlier_ranks(const std::string& run, int attempt);

}  // namespace atl
