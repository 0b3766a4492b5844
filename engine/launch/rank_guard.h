// A rank's side of being supervised: it ends when whoever started it is gone, and it is asked, not killed, to
// stop.
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

/// From now on this process is killed when its parent (mpirun, or `atoll run`) ends, however it ends: by the
/// kernel (PR_SET_PDEATHSIG), and, where that is lost, by a thread that looks at the parent twice a second.
/// Call once, first thing.
void end_with_parent();

/// From now on SIGUSR1, which `atoll run` sends (and mpirun hands on) when the user asks to stop, ends this
/// process at once with kStoppedStatus: nothing is trained that could be lost. SIGINT is left to `atoll run`.
void listen_for_stop();

/// From now on SIGUSR1 sets stop_requested() instead: a step is under way, and a checkpoint follows it.
void let_steps_end();

/// The same flag each call.
const std::atomic<bool>& stop_requested();

/// While it exists: after `seconds` this process says `last_words` on standard error and exits with `status`.
/// For a call into a library that may never return and can't be cancelled. `meanwhile` is said at once, and
/// each half a second.
class EndUnlessDone {
 public:
  EndUnlessDone(std::chrono::seconds seconds, std::string last_words, int status, std::string meanwhile = "");
  ~EndUnlessDone();
  EndUnlessDone(const EndUnlessDone&) = delete;
  EndUnlessDone& operator=(const EndUnlessDone&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  bool is_done_by(Clock::time_point when);

  std::mutex lock_;
  std::condition_variable news_;
  bool done_ = false;
  std::thread thread_;
};

// What ranks and their witnesses say to `launch`: how far each rank is, and the last words of one that fails.
// mpirun may never tell: it tells of one rank alone that ends badly, waits for every host's daemon to end
// first, also for one that can't be reached any more, and waits without end for a rank that doesn't.

/// kStarted: from then on the rank minds requests to stop. kLeaves: it has nothing more to exchange, and is
/// about to end; said again and again, so that who has fallen silent can be told from who waits for it.
/// kEnded, by its witness: it has ended well.
enum class RankWord { kStarted, kLeaves, kEnded };
struct RankNews {
  int rank = -1;
  std::string host;
  RankWord word = RankWord::kStarted;
};

/// One line: "atoll-rank: 1 on server1 has started".
std::string rank_news(int rank, const std::string& host, RankWord word);
/// Nothing where the line is another.
std::optional<RankNews> read_rank_news(const std::string& line);

/// One line: "atoll: rank 1 on server1: why".
std::string rank_failure(int rank, const std::string& host, const std::string& why);
/// As its witness says: "atoll: rank 1 on server1: ended by signal 9".
std::string rank_killed(int rank, const std::string& host, int signal);

struct FailedRank {
  int rank = -1;
  std::string host;
  int signal = 0;  // that ended it; 0: it has failed by itself
};
/// Nothing where the line is another.
std::optional<FailedRank> read_rank_failure(const std::string& line);

// Whoever outlives a rank says how it ended. mpirun tells of the first rank alone that ends badly, and that
// may be one whose connection to a killed rank broke: Open MPI ends it at once, and its daemon's word may be
// there first.

/// Divides this process. The call returns in a child, which is the rank; the parent stays: it hands on what
/// asks the rank to end, ends as it does, and says on standard error, in the words above, that it has ended
/// well, or that a signal has ended it that nobody sent through the parent. Neither outlives the other.
/// Returns who has started the rank, on one machine the same process for all ranks of a job. Call before
/// there are threads; throws Error where no process can be started.
pid_t leave_witness(Rank rank, const std::string& host);

}  // namespace atl
