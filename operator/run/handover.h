// Jobs on their way from the threads that decide to the threads that write. A decision takes milliseconds,
// but its writes wait for the API server. So a few threads decide, and others write, or ask what only the
// server knows. Then news of other jobs is looked at even while the server is slow, or a thousand pods have
// to be made.
//
// A job that waits for a writer may be looked at again. Only its last decision is then written, and it keeps
// the turn of the first. A job isn't decided on in three cases. First, while its writes are under way,
// because they would be decided twice. Second, while a decision waits that rests on what only the job's last
// writes told, because another look wouldn't know that. Third, while a decision waits that has missed its
// turn because the job was just being looked at: otherwise, under constant news, nothing would ever be
// written.
//
// The writes that wait may take only a fraction of the operator's memory. Gangs are decided on faster than
// they are made, and each of a thousand pods may be as large as its job's spec.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "operator/controller/decide.h"
#include "operator/kube/clock.h"
#include "operator/kube/work_queue.h"
#include "operator/run/news_age.h"

namespace atl::ctl {

/// What has to be done with the API server about a job.
struct Errand {
  struct Writes {
    Observed seen;  // without a usable `cluster`
    Decision decision;
    std::set<std::string> unseen;  // pods whose room stays booked in any case
  };

  NewsAge age;                   // paused
  std::optional<Writes> writes;  // nothing: ask what the decision wants, then decide again
  bool rests_on_feedback = false;
};

/// Thread-safe.
class Handover {
 public:
  /// The clock must outlive it. Errands of urgent jobs go first, but don't hold up the others for ever
  /// (WorkQueue).
  Handover(kube::Clock& clock, kube::WorkQueue::IsUrgent is_urgent) : line_(clock, std::move(is_urgent)) {}

  /// Returns whether the job may be decided on. If so, a waiting errand is dropped, because what it rests on
  /// has changed. If not, the job's errand is under way or has to be run, and end() reports that there was
  /// news.
  bool begin_look(const std::string& job);
  /// Ends a look that was begun. `errand` is what the look has led to, if anything. If too many bytes of
  /// writes wait already, the errand's writes are dropped, and its taker decides again; writes that rest on
  /// feedback are kept.
  void end_look(const std::string& job, std::optional<Errand> errand);
  static constexpr std::size_t kMostBytes = 64 << 20;  // limit of all waiting writes

  using Taken = std::pair<std::string, Errand>;
  /// Waits for an errand and takes it; nothing if `stop` came. The taker must call end() with the job.
  std::optional<Taken> take(const std::stop_token& stop);
  /// Takes an errand without waiting; nothing if there is none.
  std::optional<Taken> take_now();
  /// Returns whether the job is to be looked at, because there was news meanwhile.
  bool end(const std::string& job);

  /// Whether an errand of the job waits to be run. What it writes is decided, or will be when it is run.
  bool has_errand(const std::string& job) const;
  /// The job is gone, and nothing is to be done about it any more.
  void forget(const std::string& job);
  /// The number of jobs that are looked at, wait, or have an errand under way; a job may count more than
  /// once.
  std::size_t size() const;

 private:
  /// Begins the errand of the job at the head of the queue; nothing if the errand was dropped.
  std::optional<Taken> begin(const std::string& job);
  /// Takes the job's waiting errand out of the map; the handle is empty if none waits. Needs the mutex.
  std::map<std::string, Errand>::node_type extract(const std::string& job);

  kube::WorkQueue line_;  // jobs with errands
  mutable std::mutex mutex_;
  std::map<std::string, Errand> waiting_;
  std::size_t bytes_ = 0;  // size of all waiting writes
  std::map<std::string, NewsAge::Time::time_point>
      looked_at_;  // since when a void errand's news waits, or now
  std::set<std::string> under_way_, have_news_, missed_turn_;
};

}  // namespace atl::ctl
