#include "operator/run/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/run/kinds.h"
#include "operator/run/log.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

constexpr const char* kWaitingJobs = "";   // a key on the queue, for all jobs that wait for room
constexpr Milliseconds kRoomSettles{100};  // many pods often go at the same time

}  // namespace

Scope scope_of(const Options& options) {
  const Settings& settings = options.settings;
  return {options.spaces, options.operator_class, settings.mpi_jobs, settings.kueue,
          settings.scale_up == ScaleUp::kCapacityBuffers || settings.clears_buffers};
}

Controller::Controller(const Options& options, Dependencies dependencies)
    : options_(options),
      around_(std::move(dependencies)),
      queue_(around_.clock, [this](const std::string& key) { return is_urgent(key); }),
      handover_(around_.clock, [this](const std::string& key) { return is_urgent(key); }),
      expectations_(around_.clock),
      caches_(around_.caches),
      planner_(caches_, options.reserve_after, around_.now),
      requests_(options.most_servers),
      claim_places_(around_.client, around_.now),
      pod_trials_(around_.client, around_.now),
      queue_flavors_(around_.client, around_.now),
      poller_(caches_, options.engine_port,
              {around_.ask, [this](const std::string& job) { enqueue(job); }, options.polls_at_once,
               &around_.clock}),
      events_(around_.client, options.identity),
      repeats_(around_.clock),
      server_delays_(around_.clock) {
  around_.news.become(this);
}

void Controller::enqueue(const std::string& job, bool again) {
  {
    std::lock_guard lock(mutex_);
    queued_.try_emplace(job, Queued{Time::now()});  // news of a job in work also waits from now on
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
  handover_.forget(job);
  std::lock_guard lock(mutex_);
  queued_.erase(job);
  written_.erase(job);
}

void Controller::room_changed() {
  queue_.add_after(kWaitingJobs, kRoomSettles);
}

void Controller::look_at_all() {
  requests_.restore(caches_);
  look_at_waiting();  // jobs for which room may be kept come first
  for (const auto& job : caches_.jobs()) enqueue(job->full_name());
}

/// Enqueues the gangs that could fit now. After them come, by priority and age, the jobs of which the planner
/// hasn't heard, and those whose launcher waits for a node. A prepare pod that waits for the scheduler needs
/// no look here, because news of it comes from the pod. A job with a waiting errand isn't looked at: it may
/// just have got places, or the errand will decide it again.
void Controller::look_at_waiting() {
  const auto leaves_its_turn = [this](const std::string& job) { return is_put_off(job); };
  for (const std::string& job : planner_.could_fit_now(leaves_its_turn)) enqueue(job);
  if (const auto rest = planner_.kept_room_stays(); rest > Seconds(0)) queue_.add_after(kWaitingJobs, rest);
  std::set<Precedence> others;
  for (const auto& job : caches_.jobs()) {
    const bool is_unheard_of = waits_for_places_since(job->status) && !job->meta.deletion &&
                               holds(job->status.conditions, kCreated) && !planner_.knows(job->full_name());
    if ((is_unheard_of || waits_for_launcher_since(job->status)) && !is_put_off(job->full_name()) &&
        !handover_.has_errand(job->full_name()))
      others.insert(precedence_of(*job, caches_));
  }
  for (const Precedence& next : others) enqueue(next.job);
}

/// Whether the job waits because its last decision couldn't be carried out. The room that it then gave back
/// must not wake the job itself before its wait is over.
bool Controller::is_put_off(const std::string& job) const {
  return queue_.is_put_off(job) || repeats_.holds_back(job);
}

/// Jobs that have or had places come before jobs that wait for their first. All other ranks of such a job
/// wait for the one that is lost.
bool Controller::is_urgent(const std::string& key) const {
  if (key == kWaitingJobs) return true;
  const auto job = caches_.job(key);
  return job && (job->status.start || holds(job->status.conditions, kPlaced));
}

void Controller::look(const std::stop_token& stop) {
  for (;;) {
    const double waited = run_queue_seconds();  // a thread that wakes waits for a processor
    const auto key = queue_.take(stop);
    if (!key) return;
    take(*key, waited);
  }
}

void Controller::write(const std::stop_token& stop) {
  while (auto taken = handover_.take(stop)) run(taken->first, std::move(taken->second));
}

bool Controller::work_once() {
  const auto key = queue_.take_now();
  if (key) take(*key, run_queue_seconds());
  while (auto taken = handover_.take_now()) run(taken->first, std::move(taken->second));
  return key.has_value();
}

/// Takes a job from the queue. If the job's errand is under way, its news stays recorded, and the end of the
/// errand brings the job back.
void Controller::take(const std::string& key, double waited) {
  if (key == kWaitingJobs)
    survive("jobs that wait for room", [&] { look_at_waiting(); });
  else if (handover_.begin_look(key))
    handover_.end_look(key, look_at(key, take_news(key, waited)));
  queue_.done(key);
}

/// Takes the record of the job's queued news. If there is none, the news came just now.
NewsAge Controller::take_news(const std::string& job, double waited) {
  std::lock_guard lock(mutex_);
  const auto queued = queued_.extract(job);
  const Queued news = queued.empty() ? Queued{Time::now()} : queued.mapped();
  around_.metrics.taken(seconds_since(news.since));
  return {news.since, news.freed, waited};
}

Written Controller::written(const std::string& job) {
  std::lock_guard lock(mutex_);
  const auto found = written_.find(job);
  return found == written_.end() ? Written{} : found->second;
}

std::optional<Errand> Controller::look_at(const std::string& job, NewsAge age) {
  std::optional<Errand> errand;
  Look look{age, false};
  attempt(job, [&] { errand = work_on(job, look); });
  return errand;
}

/// Works on a job. An object that can't be read must not end the work on other jobs.
void Controller::attempt(const std::string& job, const std::function<void()>& work) {
  const auto begin = Time::now();
  try {
    work();
  } catch (const std::exception& error) {
    log_warning("{}: {}", job, error.what());
    around_.metrics.failed("error");
    enqueue(job, true);
  }
  around_.metrics.worked(seconds_since(begin));
}

void Controller::poll_progress(Lane lane, const std::stop_token& stop) {
  while (around_.clock.sleep(options_.progress_every, stop))
    survive("progress", [&] { (poller_.*lane)(around_.now(), stop); });
}

void Controller::send_events(const std::stop_token& stop) {
  while (around_.clock.sleep(Milliseconds(500), stop)) survive("events", [&] { flush_events(); });
}

}  // namespace atl::ctl
