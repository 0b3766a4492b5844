// How far the ranks are. Every few seconds the pod of rank 0 is asked over HTTP, or another pod if that one
// is silent. If ranks wait for a rank, the pods of the ranks waited for are asked too. If no pod answers, the
// ranks may still be well, because the network in between may be at fault.
//
// Jobs are asked in two lanes, prompt and slow, by how long their last answer took. Each lane goes at its own
// pace. So a page that is slow, or can't be reached, doesn't delay the jobs that answer promptly. A round of
// the slow lane takes longer the more jobs it has. So what counts for a slow job is how many questions in a
// row it didn't answer, not how long ago it last answered.
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

/// Thread-safe.
class ProgressPoller {
 public:
  struct Handlers {
    Ask ask = ask_for_progress;
    std::function<void(const std::string& job)> on_news;
    int at_once = 16;  // jobs that are asked at once, in each lane
    kube::Clock* clock = &kube::steady_clock();
  };
  ProgressPoller(const Caches& caches, int port, Handlers handlers)
      : caches_(caches), port_(port), handlers_(std::move(handlers)) {}

  /// One round of the prompt lane. It asks every running job that was prompt the last time, or hasn't been
  /// asked yet. `now` is when the round begins. Rounds of the two lanes may run at once, but not two rounds
  /// of one lane. After `stop` no more jobs are asked.
  void poll_prompt(Moment now, const std::stop_token& stop = {}) { poll(false, now, stop); }
  /// One round of the slow lane: the jobs whose last answer took long.
  void poll_slow(Moment now, const std::stop_token& stop = {}) { poll(true, now, stop); }
  /// What the present attempt's ranks have reported; nothing before they were first asked.
  std::optional<ProgressReport> heard(const std::string& job) const;
  /// The rank of the present attempt that others wait for and whose server doesn't answer.
  std::optional<Rank> silent_rank(const std::string& job) const;
  void forget(const std::string& job);
  /// The number of jobs of which something is remembered.
  std::size_t size() const;

 private:
  using Time = kube::Clock::Time;
  /// The report of one server, and the rank at which the waits that it reports end.
  struct Word {
    Rank speaker = 0;
    Progress progress;
    std::optional<std::int64_t> step;  // step within the present epoch; nothing if epochs have one step
    std::optional<Rank> stalled_rank, silent_rank;
  };
  struct Entry {
    int attempt = 0;
    ProgressReport heard;
    Rank leader = 0;                          // the rank that last reported the end of an epoch or step
    std::optional<std::int64_t> epoch, step;  // the epoch and step that it reported
    std::optional<Rank> silent_rank;
    bool is_slow = false;  // our last question took long
  };
  /// When a round began, on both clocks.
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
  /// What is remembered of the job's present attempt; null if nothing is. Needs the mutex.
  const Entry* entry_of(const std::string& job, const GnnJob* known) const;

  const Caches& caches_;
  const int port_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by job
};

}  // namespace atl::ctl
