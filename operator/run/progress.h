// How far the ranks are. Every few seconds rank 0's pod is asked over HTTP, or another one where that is
// silent; where ranks wait for a rank, the pods to which the waits lead are asked, too. When no pod answers,
// the ranks may still be well: the network in between may be at fault.
//
// Jobs are asked in two lanes, by how long they took the last time. Each lane goes at its own pace, so a page
// that is slow, or that nobody reaches, costs the jobs that answer promptly no turn. Slow jobs share a lane
// whose round takes the longer the more they are: of these, what counts is how often one was asked in vain,
// not how long ago it last answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/types.h"
#include "operator/kube/clock.h"
#include "operator/run/caches.h"
#include "operator/run/rank_pages.h"

namespace atl::ctl {

/// All of it may be called from any thread.
class ProgressPoller {
 public:
  struct Handlers {
    Ask ask = ask_for_progress;
    std::function<void(const std::string& job)> on_news;
    int at_once = 16;  // jobs that are asked for at the same time, in each lane
    kube::Clock* clock = &kube::steady_clock();
  };
  ProgressPoller(const Caches& caches, int port, Handlers handlers)
      : caches_(caches), port_(port), handlers_(std::move(handlers)) {}

  /// Asks for every job that runs and was prompt the last time, or wasn't asked yet: one round of that lane.
  /// `now`: when the round begins. The two lanes may go on at once, but no two rounds of one. After `stop` no
  /// more are asked.
  void poll_prompt(Moment now, const std::stop_token& stop = {}) { poll(false, now, stop); }
  /// The same for those that took long the last time.
  void poll_slow(Moment now, const std::stop_token& stop = {}) { poll(true, now, stop); }
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
    Rank leader = 0;                          // the rank that last reported the end of an epoch or step
    std::optional<std::int64_t> epoch, step;  // that epoch and step
    std::optional<Rank> silent_rank;
    bool is_slow = false;  // our last question took long
  };
  /// When a round began, by both clocks.
  struct Round {
    Moment moment;
    Time time;
  };
  using Jobs = std::vector<std::shared_ptr<const GnnJob>>;

  void poll(bool are_slow, Moment now, const std::stop_token& stop);
  Jobs jobs_of_lane(bool are_slow) const;
  void poll_job(const GnnJob& job, const Round& round);
  static std::optional<Word> ask_servers(RankPages& pages, std::size_t most, int ranks);
  bool enter(const GnnJob& job, const std::optional<Word>& word, Moment now, bool is_slow);
  static void take_progress(Entry& entry, const Word& word, const Progress& before, Moment now);
  /// What is remembered of the job's present attempt; null: nothing. Needs the mutex.
  const Entry* entry_of(const std::string& job, const GnnJob* known) const;

  const Caches& caches_;
  const int port_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by job
};

}  // namespace atl::ctl
