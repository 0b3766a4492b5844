// Jobs on their way from who decides to who writes. To decide takes milliseconds, and what was decided then
// waits for the API server; so a few threads decide, and others write, or ask what only the server knows. A
// server that is slow, or a thousand pods to make, then keeps nobody's news from being looked at.
//
// A job that waits for a writer may be looked at again: its last decision is the one that is written, in the
// turn of the first. While its writes are under way, it isn't decided on, because they would be decided
// twice; nor while a decision waits that rests on what only its last writes told, which no other look knows;
// nor while one waits that has missed its turn, because the job was looked at just then: where news never
// ceases, nothing would ever be written.
//
// What waits to be written may take a fraction of the operator's memory: gangs are decided on faster than
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
    Observed seen;  // its `cluster` is gone
    Decision decision;
    std::set<std::string> unseen;  // pods whose room stays booked in any case
  };

  NewsAge age;                   // paused
  std::optional<Writes> writes;  // nothing: to be decided again, after asking what the decision wants
  bool rests_on_feedback = false;
};

/// Any thread may call any of it.
class Handover {
 public:
  /// The clock must outlive it. Errands of urgent jobs are run first, but not for ever (WorkQueue).
  Handover(kube::Clock& clock, kube::WorkQueue::IsUrgent is_urgent) : line_(clock, std::move(is_urgent)) {}

  /// Whether the job may be decided on. An errand that nobody runs yet is void: what it rests on has changed.
  /// False: its errand is under way, or has to be run, and its end tells that there was news.
  bool begin_look(const std::string& job);
  /// Ends a look that was begun. `errand`: what it has led to, if anything. Its writes are dropped where too
  /// much waits already, unless they rest on feedback: then whoever runs it decides again.
  void end_look(const std::string& job, std::optional<Errand> errand);
  static constexpr std::size_t kMostBytes = 64 << 20;  // of writes that wait

  using Taken = std::pair<std::string, Errand>;
  /// Waits for an errand and takes it; none: `stop` came. The taker calls end() with the job.
  std::optional<Taken> take(const std::stop_token& stop);
  /// Takes one without waiting; none: nothing to do now.
  std::optional<Taken> take_now();
  /// Returns whether the job is to be looked at, because there was news meanwhile.
  bool end(const std::string& job);

  /// Whether the job has an errand that nobody runs yet: it is known what to write, or it will be decided
  /// then.
  bool has_errand(const std::string& job) const;
  /// The job is gone: nothing is to be done about it any more.
  void forget(const std::string& job);
  /// Entries of all jobs: those that are looked at, that wait, and whose errands are under way.
  std::size_t size() const;

 private:
  /// The errand of a job that has reached the head of the line; none: it is void.
  std::optional<Taken> begin(const std::string& job);
  /// Ends the errand's wait. Returns an empty handle where none waits. Needs the mutex.
  std::map<std::string, Errand>::node_type extract(const std::string& job);

  kube::WorkQueue line_;  // of jobs with errands
  mutable std::mutex mutex_;
  std::map<std::string, Errand> waiting_;
  std::size_t bytes_ = 0;  // of the writes of all that wait
  std::map<std::string, NewsAge::Time::time_point>
      looked_at_;  // since when a void errand's news waits, or now
  std::set<std::string> under_way_, have_news_, missed_turn_;
};

}  // namespace atl::ctl
