// The controller's requests to the API server about a job: it asks what a decision needs, and carries
// decisions out (handover.h).
#include <utility>

#include "operator/run/controller.h"
#include "operator/run/log.h"

namespace atl::ctl {

void Controller::run(const std::string& job, Errand errand) {
  attempt(job, [&] {
    if (errand.writes) return carry_out(job, errand);
    Look look{errand.age, true};
    look.age.resume();
    if (const auto found = work_on(job, look)) carry_out(job, *found);
  });
  std::unique_lock lock(mutex_);
  if (const auto news = queued_.find(job); news != queued_.end()) news->second.freed = Time::now();
  lock.unlock();
  if (handover_.end(job)) enqueue(job);
}

void Controller::carry_out(const std::string& job, const Errand& errand) {
  log_debug(options_.log_level, "{}: {}", job, text_of(errand.writes->decision));
  WriteResult result = write_all(*errand.writes);
  around_.metrics.carried_out(seconds_since(errand.age.queued()));
  conclude(job, std::move(result));
}

WriteResult Controller::write_all(const Errand::Writes& writes) {
  const auto& [seen, decision, unseen] = writes;
  const std::string job = seen.job.full_name();
  const WriteContext context{around_.client, expectations_, caches_, around_.may_write,
                             options_.writes_at_once};
  if (decision.status) {
    WriteResult written = write_new_status(context, seen, *decision.status);
    if (written.outcome != Outcome::kDone) {
      // A status whose write wasn't answered may have been written. The job keeps the places in it until the
      // next look.
      const bool may_stand = written.outcome == Outcome::kUnanswered && !written.feedback.is_empty();
      if (!may_stand) planner_.forget(job, unseen);
      return written;
    }
    std::unique_lock lock(mutex_);
    written_[job].status = seen.now;
    lock.unlock();
    const auto& restarts = decision.status->restarts;
    if (!restarts.empty() && restarts != seen.job.status.restarts)
      around_.metrics.restarted(restarts.back().reason);
  }
  for (const Event& event : decision.events) events_.add(seen.job, event, seen.now);
  WriteResult result = write_stages(context, seen, decision);
  if (result.outcome == Outcome::kDone) {
    repeats_.done(job, decision);
    remember_keys(job, writes);
    return result;
  }
  std::set<std::string> kept = unseen;
  kept.insert(result.pods.begin(), result.pods.end());
  planner_.forget(job, kept);
  return result;
}

void Controller::remember_keys(const std::string& job, const Errand::Writes& done) {
  for (const auto& stage : done.decision.stages) {
    for (const Write& write : stage) {
      if (write.kind != Kind::kSecret || write.verb != Write::Verb::kCreate) continue;
      std::lock_guard lock(mutex_);
      written_[job].keys = write.name;
      written_[job].made_keys = done.seen.now;
    }
  }
}

void Controller::conclude(const std::string& job, WriteResult result) {
  if (!result.feedback.is_empty()) feedbacks_.put(job, std::move(result.feedback));
  if (result.outcome == Outcome::kDone) {
    queue_.forget(job);
    return enqueue(job);  // decide again until there is nothing left to do
  }
  server_delays_.begin(job, result.retry_after);
  around_.metrics.failed(word_for(result.outcome));
  log_warning("{}: {}: {}", job, word_for(result.outcome), result.problem);
  enqueue(job, true);
}

}  // namespace atl::ctl
