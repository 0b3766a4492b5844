// The controller. Changes in the caches put jobs on a queue; workers take them, look, decide, and carry the
// decision out. It keeps no state that matters: another controller, or itself after a restart, goes on from
// what the API server has.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/kube/work_queue.h"
#include "operator/run/act.h"
#include "operator/run/asked.h"
#include "operator/run/caches.h"
#include "operator/run/events.h"
#include "operator/run/feedback.h"
#include "operator/run/job_waits.h"
#include "operator/run/metrics.h"
#include "operator/run/options.h"
#include "operator/run/planner.h"
#include "operator/run/progress.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

class Controller final : public CacheListener {
 public:
  /// What the controller works with; references must outlive it.
  struct Dependencies {
    kube::Client& client;
    Metrics& metrics;
    std::function<bool()> may_write;  // false: another replica may lead by now
    std::function<Moment()> now;
    Ask ask = ask_for_progress;
    kube::Clock& clock = kube::steady_clock();
  };
  Controller(const Options& options, Dependencies dependencies);

  Caches& caches() { return caches_; }
  /// Looks at every known job, because a new leader has missed what happened before.
  void look_at_all();

  // Each in threads of its own, until `stop`:
  void work(const std::stop_token& stop);
  using Lane = void (ProgressPoller::*)(Moment now);  // poll_prompt, poll_slow
  void poll_progress(Lane lane, const std::stop_token& stop);
  void send_events(const std::stop_token& stop);

  /// Works on one job that needs it; false where none does.
  bool work_once();
  void poll_progress_once() {
    poller_.poll_prompt(around_.now());
    poller_.poll_slow(around_.now());
  }
  /// Sends events that haven't been sent.
  void flush_events() { events_.send(); }
  std::string metrics_text();
  /// Of what is remembered beside the caches: how many entries there are of each kind. None outlives its job.
  std::map<std::string, std::size_t> remembered() const;

  void job_changed(const std::string& job, const std::string& mark) override;
  void job_gone(const std::string& job) override { forget(job); }
  void room_changed() override;

 private:
  using Time = std::chrono::steady_clock;

  void take(const std::string& key);
  void forget(const std::string& job);
  void look_at(const std::string& job);
  void work_on(const std::string& job, Time::time_point queued);
  GangPlan plan(Gang gang, const std::vector<std::string>& pods, const GnnJob& job, Planner::JobPlans& plans);
  std::optional<PodSize> largest_pods(std::vector<Gang> ways, const GnnJob& job, Planner::JobPlans& plans);
  Decision decide_on(Observed& seen);
  void carry_out(const Observed& seen, const Decision& decision, std::set<std::string> unseen);
  void conclude(const std::string& job, WriteResult result);
  void enqueue(const std::string& job, bool again = false);
  void look_at_waiting();
  bool is_put_off(const std::string& job) const;
  bool is_urgent(const std::string& key) const;
  Time::time_point take_queued(const std::string& job);
  std::optional<Moment> wrote_status(const std::string& job);

  const Options options_;
  const Dependencies around_;
  kube::WorkQueue queue_;
  kube::Expectations expectations_;
  WriteFeedbacks feedbacks_;
  Caches caches_;
  Planner planner_;
  NodeRequests requests_;
  ClaimPlaces claim_places_;
  QueueFlavors queue_flavors_;
  ProgressPoller poller_;
  Events events_;
  Repeats repeats_;
  ServerDelays server_delays_;
  mutable std::mutex mutex_;                        // guards what follows
  std::map<std::string, Time::time_point> queued_;  // since when a job has been queued
  std::map<std::string, Moment> wrote_status_;      // when a job's status was last written
};

}  // namespace atl::ctl
