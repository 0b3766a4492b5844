// How far the ranks are. Every few seconds rank 0's pod is asked over HTTP, or another one where that is
// silent; where ranks wait for a rank, the pods to which the waits lead are asked, too. Answers come from
// containers and aren't trusted: slow, large or meaningless ones cost us no more than a few connections, and
// a write of the status each time. When no pod answers, the ranks may still be well: the network in between
// may be at fault.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "operator/kube/clock.h"
#include "operator/run/caches.h"

namespace atl::ctl {

// What the servers of a job's ranks report, each asked once.

/// A page's text from an address ("http://10.1.0.5:9400", "http://[fd00::5]:9400"), or nothing.
using Ask = std::function<std::optional<std::string>(const std::string& address)>;

class RankPages {
 public:
  /// Asks the job's workers that run and have an address. `ask` outlives it.
  RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port);

  bool are_none() const { return pods_.empty(); }
  /// The page of the server that `rank` runs on; nothing where that server is silent, or there is none.
  std::optional<std::string> page_of(Rank rank);
  /// The lowest rank of each of the first servers, at most `most` of them.
  std::vector<Rank> lowest_ranks(std::size_t most) const;

 private:
  const Ask& ask_;
  int port_;
  std::map<Rank, std::shared_ptr<const PodView>> pods_;
  std::map<const PodView*, std::optional<std::string>> pages_;
};

/// Asks over HTTP for /progress, and takes at most 64 KiB within 2 s.
std::optional<std::string> ask_for_progress(const std::string& address);

/// The number of finished steps of the epoch, from a rank's /progress; nothing where an epoch has one step.
std::optional<std::int64_t> read_step(const std::string& text);

/// Nothing where the text isn't what a rank's /progress says.
std::optional<Progress> read_progress(const std::string& text);

/// All of it may be called from any thread.
class ProgressPoller {
 public:
  struct Handlers {
    Ask ask = ask_for_progress;
    std::function<void(const std::string& job)> on_news;
    int at_once = 16;  // jobs that are asked for at the same time
    kube::Clock* clock = &kube::steady_clock();
  };
  ProgressPoller(const Caches& caches, int port, Handlers handlers)
      : caches_(caches), port_(port), handlers_(std::move(handlers)) {}

  /// Asks for every job that runs. Those that took long the last time come last, and of these at most
  /// `at_once`, the ones that were asked longest ago: else one team's pods that nobody reaches would keep all
  /// other teams' jobs waiting.
  void poll(Moment now);
  /// What the present attempt's ranks have said; nothing before they were first asked.
  std::optional<ProgressReport> heard(const std::string& job) const;
  /// The rank that others wait for in the present attempt and whose server doesn't answer.
  std::optional<Rank> silent_rank(const std::string& job) const;
  void forget(const std::string& job);
  /// Jobs of which something is remembered.
  std::size_t size() const;

 private:
  using Time = kube::Clock::Time;
  /// One server's report, and what the waits that it reports lead to.
  struct Word {
    Rank speaker = 0;
    Progress progress;
    std::optional<std::int64_t> step;  // of the present epoch, where epochs have several
    std::optional<Rank> stalled_rank, silent_rank;
  };
  struct Entry {
    int attempt = 0;
    ProgressReport heard;
    bool is_answered = false;                 // at our last question
    Rank leader = 0;                          // the rank that last reported the end of an epoch or step
    std::optional<std::int64_t> epoch, step;  // that epoch and step
    std::optional<Rank> silent_rank;
    bool is_slow = false;  // our last question took long
    Time asked{};          // when we asked it
  };
  using Jobs = std::vector<std::shared_ptr<const GnnJob>>;
  /// Takes the slow ones out of `running`, and returns those whose turn it is.
  Jobs take_slow(Jobs& running);
  void poll_job(const GnnJob& job, Moment now);
  static std::optional<Word> ask_servers(RankPages& pages, std::size_t most, int ranks);
  bool enter(const GnnJob& job, const std::optional<Word>& word, Moment now, Time asked);
  static void take_progress(Entry& entry, const Word& word, const Progress& before, Moment now);

  const Caches& caches_;
  const int port_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by job
};

// Which rank a job that doesn't advance waits for. Each server says whom each of its ranks waits for.
// Followed from rank to rank, across servers, the waits end at a rank that waits for nobody or doesn't
// answer: that rank hangs, and all others wait because of it. Servers aren't trusted: a wrong answer can make
// us name another rank of the same job, and ask a few servers, but no more.

/// The ranks of one server, and whom each waits for; nothing of a rank that doesn't answer.
using ServerWaits = std::map<Rank, std::optional<std::vector<Rank>>>;

/// Reads a /progress page, and leaves out ranks that a job of `ranks` ranks doesn't have. Nothing where the
/// text isn't such a page.
std::optional<ServerWaits> read_waits(const std::string& text, int ranks);

/// Asks the server of a rank; nothing where it is silent. Called once for a server that knows the rank.
using AskServer = std::function<std::optional<ServerWaits>(Rank)>;

/// `first`: where to begin. Nothing where the waits form a circle, or pass through more than a few servers.
std::optional<Rank> stalled_rank(Rank first, const AskServer& ask);

}  // namespace atl::ctl
