#include "operator/run/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/run/asked.h"
#include "operator/run/kinds.h"
#include "operator/run/log.h"
#include "operator/run/observe.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

constexpr const char* kWaitingJobs = "";   // a key on the queue: all jobs that wait for room
constexpr Milliseconds kRoomSettles{100};  // many pods often go together
constexpr Milliseconds kExpectationsLapse{301'000}, kNameMayBeFree{30'000};
constexpr int kMostAsked = 5;  // rounds of a decision, which asks four things at most

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Controller::Controller(const Options& options, Dependencies dependencies)
    : options_(options),
      around_(std::move(dependencies)),
      queue_(around_.clock, [this](const std::string& key) { return is_urgent(key); }),
      expectations_(around_.clock),
      caches_({options.spaces, options.operator_class, options.settings.mpi_jobs, options.settings.kueue,
               options.settings.scale_up == ScaleUp::kCapacityBuffers || options.settings.clears_buffers},
              *this),
      planner_(caches_, options.reserve_after, around_.now),
      requests_(options.most_servers),
      claim_places_(around_.client, around_.now),
      queue_flavors_(around_.client, around_.now),
      poller_(caches_, options.engine_port,
              {around_.ask, [this](const std::string& job) { enqueue(job); }, options.polls_at_once,
               &around_.clock}),
      events_(around_.client, options.identity),
      repeats_(around_.clock),
      server_delays_(around_.clock) {}

void Controller::enqueue(const std::string& job, bool again) {
  {
    std::lock_guard lock(mutex_);
    queued_.try_emplace(job, Time::now());  // for a job in work, news waits from now on, too
  }
  around_.metrics.queued(again);
  again ? queue_.add_failed(job) : queue_.add(job);
}

void Controller::job_changed(const std::string& job, const std::string& mark) {
  if (!mark.empty()) expectations_.seen(job, mark);
  enqueue(job);
}

void Controller::forget(const std::string& job) {
  expectations_.forget(job);
  planner_.forget(job);
  if (planner_.stop_waiting(job)) room_changed();
  requests_.forget(job);
  poller_.forget(job);
  feedbacks_.take(job);
  repeats_.forget(job);
  server_delays_.forget(job);
  queue_.drop(job);
  std::lock_guard lock(mutex_);
  wrote_status_.erase(job);
}

void Controller::room_changed() {
  queue_.add_after(kWaitingJobs, kRoomSettles);
}

void Controller::look_at_all() {
  requests_.restore(caches_);
  look_at_waiting();  // first the jobs for which room may be kept
  for (const auto& job : caches_.jobs()) enqueue(job->full_name());
}

/// Those that could fit now. Then those of which the planner hasn't heard, and those that wait with a
/// launcher, by priority and age. News of a prepare pod that waits for the scheduler comes by that pod.
void Controller::look_at_waiting() {
  const auto leaves_its_turn = [this](const std::string& job) { return is_put_off(job); };
  for (const std::string& job : planner_.could_fit_now(leaves_its_turn)) enqueue(job);
  if (const auto rest = planner_.kept_room_stays(); rest > Seconds(0)) queue_.add_after(kWaitingJobs, rest);
  std::set<Precedence> others;
  for (const auto& job : caches_.jobs()) {
    const bool is_unheard_of = waits_for_places_since(job->status) && !job->meta.deletion &&
                               holds(job->status.conditions, kCreated) && !planner_.knows(job->full_name());
    if ((is_unheard_of || waits_for_launcher_since(job->status)) && !is_put_off(job->full_name()))
      others.insert(precedence_of(*job, caches_));
  }
  for (const Precedence& next : others) enqueue(next.job);
}

/// Whether what the job decided couldn't be carried out. The room that it gave back must not wake the job
/// itself before its wait is over.
bool Controller::is_put_off(const std::string& job) const {
  return queue_.is_put_off(job) || repeats_.holds_back(job);
}

/// Jobs that have places, or had, come before those that wait for their first: such a job's lost rank keeps
/// all its others waiting.
bool Controller::is_urgent(const std::string& key) const {
  if (key == kWaitingJobs) return true;
  const auto job = caches_.job(key);
  return job && (job->status.start || holds(job->status.conditions, kPlaced));
}

void Controller::work(const std::stop_token& stop) {
  while (const auto key = queue_.take(stop)) take(*key);
}

bool Controller::work_once() {
  const auto key = queue_.take_now();
  if (key) take(*key);
  return key.has_value();
}

void Controller::take(const std::string& key) {
  if (key == kWaitingJobs) {
    survive("jobs that wait for room", [&] { look_at_waiting(); });
    return queue_.done(key);
  }
  look_at(key);
  queue_.done(key);
}

/// Since when the job was queued; now, if no news of it queued it.
Controller::Time::time_point Controller::take_queued(const std::string& job) {
  std::lock_guard lock(mutex_);
  const auto queued = queued_.extract(job);
  return queued.empty() ? Time::now() : queued.mapped();
}

std::optional<Moment> Controller::wrote_status(const std::string& job) {
  std::lock_guard lock(mutex_);
  const auto found = wrote_status_.find(job);
  return found == wrote_status_.end() ? std::nullopt : std::optional(found->second);
}

void Controller::look_at(const std::string& job) {
  const auto queued = take_queued(job);
  around_.metrics.taken(seconds_since(queued));
  const auto begin = Time::now();
  try {
    work_on(job, queued);
  } catch (const std::exception& error) {  // an object that can't be read must not end the work on others
    log_warning("{}: {}", job, error.what());
    around_.metrics.failed("error");
    enqueue(job, true);
  }
  around_.metrics.worked(seconds_since(begin));
}

void Controller::work_on(const std::string& job, Time::time_point queued) {
  if (const auto wait = server_delays_.left(job); wait > Milliseconds(0)) return queue_.add_after(job, wait);
  if (!expectations_.are_met(job)) return queue_.add_after(job, kExpectationsLapse);
  WriteFeedback feedback = feedbacks_.take(job);
  // Objects without our labels aren't watched, so only another try shows that one of them is gone.
  if (feedback.has_foreign()) queue_.add_after(job, kNameMayBeFree);
  const auto outdated = std::exchange(feedback.outdated, {});
  auto reread = read_again(around_.client, space_of(job), outdated);
  if (!reread) {
    feedback.outdated = outdated;
    feedbacks_.put(job, std::move(feedback));
    return enqueue(job, true);
  }
  // The caches show what was booked, except pods whose creation wasn't answered.
  const std::set<std::string> unseen = pods_that_exist(*reread);
  Planner::JobPlans plans(planner_, job, unseen);
  auto seen = observe(job, caches_,
                      {std::move(feedback), std::move(*reread), poller_.heard(job), poller_.silent_rank(job),
                       wrote_status(job), around_.now()});
  if (!seen) {
    if (!caches_.job(job)) forget(job);  // it may belong to another operator now
    return;
  }
  CachedCluster cluster(
      caches_, seen->job,
      [&](const Gang& gang, const auto& pods) { return plan(gang, pods, seen->job, plans); },
      [&](auto servers) { return requests_.why_not(job, precedence_of(seen->job, caches_), servers); },
      [&](const auto& ways) { return largest_pods(ways, seen->job, plans); });
  seen->cluster = &cluster;
  const Decision decision = decide_on(*seen);
  if (!cluster.has_asked() && !has_requests(*seen)) requests_.forget(job);
  if (planner_.take_moved()) room_changed();
  if (const auto wait = repeats_.wait(job, decision); wait > Milliseconds(0)) {
    around_.metrics.held_back();
    return queue_.add_after(job, wait);
  }
  plans.keep(decision);
  const Status& status = decision.status ? *decision.status : seen->job.status;
  // One that has no use for places now, because its pods are refused, takes nobody's turn.
  const bool waits = plans.has_planned() && waits_for_places_since(status);
  if (!waits && planner_.stop_waiting(job)) room_changed();
  if (decision.requeue_at)
    queue_.add_after(job, std::max<Milliseconds>(*decision.requeue_at - seen->now, Milliseconds(0)));
  if (decision.status || !decision.stages.empty()) {
    around_.metrics.decided(seconds_since(queued));
    carry_out(*seen, decision, unseen);
    around_.metrics.carried_out(seconds_since(queued));
  } else if (decision.wants.is_any()) {
    enqueue(job, true);  // the answer couldn't be had
  } else {
    queue_.forget(job);
  }
}

GangPlan Controller::plan(Gang gang, const std::vector<std::string>& pods, const GnnJob& job,
                          Planner::JobPlans& plans) {
  for (GangVolume& volume : gang.volumes) volume.place = claim_places_.of(job.meta.space, volume.claim);
  const auto begin = Time::now();
  GangPlan plan = plans.plan(gang, pods);
  around_.metrics.planned(seconds_since(begin));
  return plan;
}

std::optional<PodSize> Controller::largest_pods(std::vector<Gang> ways, const GnnJob& job,
                                                Planner::JobPlans& plans) {
  for (Gang& way : ways)
    for (GangVolume& volume : way.volumes) volume.place = claim_places_.of(job.meta.space, volume.claim);
  return plans.largest_pods(ways, options_.settings.gpu_resource);
}

/// Decides again while the decision asks for something that the API server knows.
Decision Controller::decide_on(Observed& seen) {
  Decision decision = decide(seen, options_.settings);
  for (int asked = 0; asked < kMostAsked && decision.wants.is_any(); ++asked) {
    if (!answer(around_.client, queue_flavors_, decision.wants, seen)) break;
    decision = decide(seen, options_.settings);
  }
  return decision;
}

/// `unseen`: pods whose room stays booked in any case.
void Controller::carry_out(const Observed& seen, const Decision& decision, std::set<std::string> unseen) {
  const std::string job = seen.job.full_name();
  log_debug(options_.log_level, "{}: {}", job, text_of(decision));
  const WriteContext context{around_.client, expectations_, caches_, around_.may_write,
                             options_.writes_at_once};
  if (decision.status) {
    WriteResult written = write_new_status(context, seen, *decision.status);
    if (written.outcome != Outcome::kDone) {
      // A status without an answer may be written: its places are the job's until the next look.
      const bool may_stand = written.outcome == Outcome::kUnanswered && !written.feedback.is_empty();
      if (!may_stand) planner_.forget(job, unseen);
      return conclude(job, std::move(written));
    }
    std::unique_lock lock(mutex_);
    wrote_status_[job] = seen.now;
    lock.unlock();
    const auto& restarts = decision.status->restarts;
    if (!restarts.empty() && restarts != seen.job.status.restarts)
      around_.metrics.restarted(restarts.back().reason);
  }
  for (const Event& event : decision.events) events_.add(seen.job, event, seen.now);
  WriteResult result = write_stages(context, seen, decision);
  if (result.outcome != Outcome::kDone) {
    unseen.merge(result.pods);
    planner_.forget(job, unseen);
  } else {
    repeats_.done(job, decision);
  }
  conclude(job, std::move(result));
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

void Controller::poll_progress(Lane lane, const std::stop_token& stop) {
  while (around_.clock.sleep(options_.progress_every, stop))
    survive("progress", [&] { (poller_.*lane)(around_.now()); });
}

void Controller::send_events(const std::stop_token& stop) {
  while (around_.clock.sleep(Milliseconds(500), stop)) survive("events", [&] { flush_events(); });
}

}  // namespace atl::ctl
