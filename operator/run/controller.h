// The controller. Changes in the caches put jobs on a queue. Looking threads take jobs from it and decide,
// and writing threads carry the decisions out. The controller keeps no state that matters: another one, or
// the next term's on the same caches, continues from what the API server has.
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
#include "operator/run/handover.h"
#include "operator/run/job_waits.h"
#include "operator/run/metrics.h"
#include "operator/run/news_age.h"
#include "operator/run/observe.h"
#include "operator/run/options.h"
#include "operator/run/planner.h"
#include "operator/run/present_listener.h"
#include "operator/run/progress.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

/// What an operator with these options has to cache of its cluster.
Scope scope_of(const Options& options);

class Controller final : public CacheListener {
 public:
  /// What the controller works with; references must outlive it.
  struct Dependencies {
    Caches& caches;
    PresentListener& news;  // the controller listens to news of `caches` as long as it lives
    kube::Client& client;
    Metrics& metrics;
    std::function<bool()> may_write;  // false: another replica may lead by now
    std::function<Moment()> now;
    Ask ask = ask_for_progress;
    kube::Clock& clock = kube::steady_clock();
  };
  Controller(const Options& options, Dependencies dependencies);
  /// No thread may be within any other call. Calls of the listener are the exception: they are waited for.
  ~Controller() override { around_.news.become(nullptr); }
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  Caches& caches() { return caches_; }
  /// Looks at every known job, because a new leader has missed what happened before.
  void look_at_all();

  // Each of these runs in threads of its own, until `stop`.
  void look(const std::stop_token& stop);   // at jobs, and decides
  void write(const std::stop_token& stop);  // what was decided, and asks what decisions need
  using Lane = void (ProgressPoller::*)(Moment now, const std::stop_token& stop);  // poll_prompt, poll_slow
  void poll_progress(Lane lane, const std::stop_token& stop);
  void send_events(const std::stop_token& stop);

  /// Looks at one job that needs it, and writes what is decided. Returns false if there is nothing to do.
  bool work_once();
  void poll_progress_once() {
    poller_.poll_prompt(around_.now());
    poller_.poll_slow(around_.now());
  }
  /// Sends the events that wait.
  void flush_events() { events_.send(); }
  std::string metrics_text();
  /// The numbers of entries that are kept outside the caches, by kind. No entry outlives its job.
  std::map<std::string, std::size_t> remembered() const;

  void job_changed(const std::string& job, const std::string& mark) override;
  void job_gone(const std::string& job) override { forget(job); }
  void room_changed() override;

 private:
  using Time = std::chrono::steady_clock;

  /// One look at a job. The thread waits for no answers, unless the look is part of an errand.
  struct Look {
    NewsAge age;
    const bool may_ask;
    bool must_ask = false;  // the decision doesn't count: it lacked an answer
  };
  struct Queued {
    Time::time_point since;
    Time::time_point freed{};  // when the job's last errand ended, if after `since`
  };

  void take(const std::string& key, double waited);
  void forget(const std::string& job);
  std::optional<Errand> look_at(const std::string& job, NewsAge age);
  void run(const std::string& job, Errand errand);
  void attempt(const std::string& job, const std::function<void()>& work);
  std::optional<Errand> work_on(const std::string& job, Look& look);
  std::optional<Errand> decide_on(const std::string& job, Observed seen, std::set<std::string> unseen,
                                  Look& look);
  Decision decision_on(Observed& seen, Look& look);
  bool knows_claims(const std::string& space, Gang& gang, Look& look);
  GangPlan plan(const Gang& gang, const std::vector<std::string>& pods, Planner::JobPlans& plans);
  void carry_out(const std::string& job, const Errand& errand);
  WriteResult write_all(const Errand::Writes& writes);
  void remember_keys(const std::string& job, const Errand::Writes& done);
  void conclude(const std::string& job, WriteResult result);
  void enqueue(const std::string& job, bool again = false);
  void look_at_waiting();
  bool is_put_off(const std::string& job) const;
  bool is_urgent(const std::string& key) const;
  NewsAge take_news(const std::string& job, double waited);
  Written written(const std::string& job);

  const Options options_;
  const Dependencies around_;
  kube::WorkQueue queue_;
  Handover handover_;
  kube::Expectations expectations_;
  WriteFeedbacks feedbacks_;
  Caches& caches_;
  Planner planner_;
  NodeRequests requests_;
  ClaimPlaces claim_places_;
  PodTrials pod_trials_;
  QueueFlavors queue_flavors_;
  ProgressPoller poller_;
  Events events_;
  Repeats repeats_;
  ServerDelays server_delays_;
  mutable std::mutex mutex_;                // guards what follows
  std::map<std::string, Queued> queued_;    // since when a job has been queued
  std::map<std::string, Written> written_;  // by job
};

}  // namespace atl::ctl
