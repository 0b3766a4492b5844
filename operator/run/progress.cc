#include "operator/run/progress.h"

#include <algorithm>

#include "operator/run/parallel.h"

namespace atl::ctl {
namespace {

constexpr kube::Milliseconds kSlow{1000};
constexpr std::size_t kMostServersAsked = 3;  // at most so many servers are asked until one answers

}  // namespace

void ProgressPoller::poll(bool are_slow, Moment now, const std::stop_token& stop) {
  {
    std::lock_guard lock(mutex_);  // a job that is gone may have been entered again by the last poll
    std::erase_if(entries_, [this](const auto& entry) { return !caches_.job(entry.first); });
  }
  const Round round{now, handlers_.clock->now()};
  const Jobs jobs = jobs_of_lane(are_slow);
  in_parallel(jobs.size(), handlers_.at_once, [&](std::size_t i) {
    if (!stop.stop_requested()) poll_job(*jobs[i], round);  // a round of slow jobs takes minutes
  });
}

ProgressPoller::Jobs ProgressPoller::jobs_of_lane(bool are_slow) const {
  Jobs jobs = caches_.jobs();
  std::lock_guard lock(mutex_);
  std::erase_if(jobs, [&](const auto& job) {
    if (!holds(job->status.conditions, kRunning)) return true;
    const auto found = entries_.find(job->full_name());
    return are_slow != (found != entries_.end() && found->second.is_slow);
  });
  return jobs;
}

/// Asks one job. A job that is asked for the first time is asked at one server only: it may be slow, and the
/// other jobs of its lane wait.
void ProgressPoller::poll_job(const GnnJob& job, const Round& round) {
  RankPages pages(caches_, job.full_name(), handlers_.ask, port_);
  const auto known = heard(job.full_name());
  if (!job.job || (pages.are_none() && !known)) return;
  // Ranks that have never reported, to this operator or its predecessor, may still be starting. Other servers
  // then know no more than the first, so they aren't asked.
  const bool has_spoken = known && (job.status.progress.epoch || known->progress);
  const auto asked = handlers_.clock->now();
  const auto word = ask_servers(pages, has_spoken ? kMostServersAsked : 1, job.job->placement.ranks);
  const auto answered = handlers_.clock->now();
  const Moment now = round.moment + std::chrono::floor<Seconds>(answered - round.time);
  if (enter(job, word, now, answered - asked >= kSlow)) handlers_.on_news(job.full_name());
}

/// The report of the first server that answers as a rank should. At most `most` servers are asked.
std::optional<ProgressPoller::Word> ProgressPoller::ask_servers(RankPages& pages, std::size_t most,
                                                                int ranks) {
  for (const Rank speaker : pages.lowest_ranks(most)) {
    const auto page = pages.page_of(speaker);
    const auto progress = page ? read_progress(*page) : std::nullopt;
    if (!progress) continue;
    Word word{speaker, *progress, read_step(*page), {}, {}};
    word.stalled_rank = stalled_rank(speaker, [&](Rank rank) -> std::optional<ServerWaits> {
      const auto theirs = pages.page_of(rank);
      if (!theirs) return {};
      return read_waits(*theirs, ranks).value_or(ServerWaits{});
    });
    if (word.stalled_rank && !pages.page_of(*word.stalled_rank)) word.silent_rank = word.stalled_rank;
    return word;
  }
  return {};
}

/// Enters the answer. Returns whether it calls for a new look at the job.
bool ProgressPoller::enter(const GnnJob& job, const std::optional<Word>& word, Moment now, bool is_slow) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[job.full_name()];
  if (entry.attempt != job.status.attempt)
    entry = {.attempt = job.status.attempt, .heard = {.answered = now}};
  const Entry before = entry;
  entry.is_slow = is_slow;
  entry.silent_rank = word ? word->silent_rank : std::nullopt;
  if (word)
    take_progress(entry, *word, job.status.progress, now);
  else
    ++entry.heard.missed;
  // The ranks may have stalled. Only an answer after the deadline shows that.
  const bool is_overdue =
      word && now - entry.heard.advanced >= Seconds(job.job->run_policy.progress_deadline_seconds);
  const bool is_first_answer = word && (!before.heard.progress || before.heard.missed > 0);
  return entry.heard.progress != before.heard.progress || entry.silent_rank != before.silent_rank ||
         is_first_answer || is_overdue || entry.heard.missed == kMissedToBeUnheard;
}

/// Takes over a report. `before` is the status's progress, from which an operator that has just started
/// continues; steps aren't in the status. Servers end an epoch one after the other, so a report from a server
/// that lags behind the leader is no advance. If the leading server itself reports less than before, it has
/// begun again, and that counts as an advance.
void ProgressPoller::take_progress(Entry& entry, const Word& word, const Progress& before, Moment now) {
  const auto epoch = word.progress.epoch;
  const std::pair said{epoch, word.step}, known{entry.epoch, entry.step};
  const bool is_first = !entry.heard.progress;
  if (is_first || (word.speaker == entry.leader ? said != known : said > known)) {
    const bool is_known = is_first && before.advanced && epoch <= before.epoch && !word.step;
    entry.heard.advanced = is_known ? std::min(*before.advanced, now) : now;
    entry.leader = word.speaker;
    entry.epoch = epoch;
    entry.step = word.step;
  }
  entry.heard.progress = word.progress;
  entry.heard.answered = now;
  entry.heard.missed = 0;
  entry.heard.stalled_rank = word.stalled_rank;
}

const ProgressPoller::Entry* ProgressPoller::entry_of(const std::string& job, const GnnJob* known) const {
  const auto found = entries_.find(job);
  return known && found != entries_.end() && found->second.attempt == known->status.attempt ? &found->second
                                                                                            : nullptr;
}

std::optional<ProgressReport> ProgressPoller::heard(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const Entry* entry = entry_of(job, known.get());
  return entry ? std::optional(entry->heard) : std::nullopt;
}

std::optional<Rank> ProgressPoller::silent_rank(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const Entry* entry = entry_of(job, known.get());
  return entry ? entry->silent_rank : std::nullopt;
}

void ProgressPoller::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  entries_.erase(job);
}

std::size_t ProgressPoller::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace atl::ctl
