#include "operator/run/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <vector>

#include "operator/api/condition.h"
#include "operator/controller/reconcile.h"
#include "operator/run/controller.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Labels = std::map<std::string, std::string>;

const Labels kQueue{{"name", "gnnjob"}};

/// 0.1 ms … 100 s. A quantile is never above the last bucket, and the alert AtollOperatorBehind needs buckets
/// above its 10 s.
const Histogram::BucketBoundaries kSeconds{1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1,
                                           0.25, 0.5,    1,    2.5,  5,      10,   25,   50,     100};

/// Some reasons come from containers, so only known ones become label values.
std::string known_reason(const std::string& reason) {
  static const std::set<std::string> kKnown{
      "OOMKilled",     "Signal",      "Exit",      "Lost",
      "Disconnected",  "NodeLost",    "Evicted",   "Preempted",
      "Deleted",       "Stalled",     "NotBound",  "StartDeadlineExceeded",
      "PrepareFailed", "Interrupted", "Rejected",  "OverLimit",
      "DaemonEnded",   "GpuFault",    "GpuDriver", "PrepareDeadlineExceeded"};
  return kKnown.contains(reason) ? reason : "Other";
}

}  // namespace

struct Metrics::State {
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Family<Histogram>& seconds(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;
  Family<Counter>& requests =
      counter("rest_client_requests_total", "Requests to the API server, by method and code.");
  Family<Histogram>& request_seconds =
      seconds("rest_client_request_duration_seconds", "From a request to its answer's headers.");
  Counter& adds = counter("workqueue_adds_total", "Jobs added to the queue.").Add(kQueue);
  Counter& retries = counter("workqueue_retries_total", "Jobs queued again after a failure.").Add(kQueue);
  Gauge& depth = gauge("workqueue_depth", "Jobs on the queue.").Add(kQueue);
  Histogram& waited = seconds("workqueue_queue_duration_seconds", "Time that a job waited in the queue.")
                          .Add(kQueue, kSeconds);
  Histogram& worked =
      seconds("workqueue_work_duration_seconds", "Time to handle a job.").Add(kQueue, kSeconds);
  Gauge& leads =
      gauge("leader_election_master_status", "1 if this replica leads.").Add({{"name", "atoll-operator"}});
  Family<Gauge>& jobs = gauge("atoll_jobs", "GNNJobs by state.");
  Family<Gauge>& waiting =
      gauge("atoll_gang_waiting_seconds", "How long a job has waited for room, of those that wait longest.");
  Family<Gauge>& node_requests =
      gauge("atoll_gang_node_requests", "Gangs for which nodes are asked of an autoscaler, by state.");
  std::mutex mutex;  // guards:
  std::map<std::pair<std::string, std::string>, Gauge*> waiting_by_job;
  Family<Counter>& restarts = counter("atoll_job_restarts_total", "Attempts that ended early, by reason.");
  Family<Counter>& failures =
      counter("atoll_job_write_failures_total", "Decisions that could not be carried out, by outcome.");
  Counter& repeats = counter("atoll_job_repeated_writes_total",
                             "Decisions put off because the same was carried out three times in a row.")
                         .Add({});
  Histogram& plans = seconds("atoll_job_plan_seconds", "Time to place a gang.").Add({}, kSeconds);
  Histogram& plan_cpu =
      seconds("atoll_job_plan_cpu_seconds", "Processor time to place a gang.").Add({}, kSeconds);
  Histogram& decided =
      seconds(
          "atoll_job_decided_seconds",
          "From when a job was put on the queue until it was known what to write about it, without the time "
          "for which it waited for the API server.")
          .Add({}, kSeconds);
  Histogram& decided_in_work =
      seconds("atoll_job_decided_in_work_seconds",
              "atoll_job_decided_seconds without the time for which who decides waited for a processor.")
          .Add({}, kSeconds);
  Histogram& decisions =
      seconds("atoll_job_decision_seconds",
              "From when a job was put on the queue until what was decided about it was done, or had failed.")
          .Add({}, kSeconds);
  Family<Gauge>& lists =
      gauge("atoll_watch_lists", "Whole lists of a resource since the start; the first is no relist.");
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::requested(const std::string& method, int code, double seconds) {
  const std::string shown = code == 0 ? "<error>" : std::to_string(code);
  state_->requests.Add({{"method", method}, {"code", shown}}).Increment();
  state_->request_seconds.Add({{"verb", method}}, kSeconds).Observe(seconds);
}

void Metrics::queued(bool again) {
  state_->adds.Increment();
  if (again) state_->retries.Increment();
}

void Metrics::taken(double waited_seconds) {
  state_->waited.Observe(waited_seconds);
}

void Metrics::worked(double seconds) {
  state_->worked.Observe(seconds);
}

void Metrics::set_depth(std::size_t depth) {
  state_->depth.Set(double(depth));
}

void Metrics::set_leads(bool leads) {
  state_->leads.Set(leads ? 1 : 0);
}

void Metrics::set_jobs(const std::map<std::string, int>& by_state) {
  for (const char* state : {"Created", "Refused", "Preparing", "Waiting", "Placed", "Running", "Suspended",
                            "Restarting", "Succeeded", "Failed", kNew}) {
    const auto found = by_state.find(state);
    state_->jobs.Add({{"state", state}}).Set(found == by_state.end() ? 0 : found->second);
  }
}

void Metrics::set_waiting(const std::map<std::pair<std::string, std::string>, double>& seconds_by_job) {
  std::vector<std::pair<double, std::pair<std::string, std::string>>> longest;
  for (const auto& [job, seconds] : seconds_by_job) longest.emplace_back(seconds, job);
  std::ranges::sort(longest, std::greater{});
  longest.resize(std::min(longest.size(), kMostWaiting));
  std::lock_guard lock(state_->mutex);
  std::erase_if(state_->waiting_by_job, [&](const auto& known) {
    const bool is_told =
        std::ranges::any_of(longest, [&](const auto& each) { return each.second == known.first; });
    if (!is_told) state_->waiting.Remove(known.second);
    return !is_told;
  });
  for (const auto& [seconds, job] : longest) {
    Gauge*& gauge = state_->waiting_by_job[job];
    if (!gauge) gauge = &state_->waiting.Add({{"job_namespace", job.first}, {"gnnjob", job.second}});
    gauge->Set(seconds);
  }
}

void Metrics::set_node_requests(int asked, int in_vain) {
  state_->node_requests.Add({{"state", "Asked"}}).Set(asked);
  state_->node_requests.Add({{"state", "NoNodes"}}).Set(in_vain);
}

void Metrics::restarted(const std::string& reason) {
  state_->restarts.Add({{"reason", known_reason(reason)}}).Increment();
}

void Metrics::failed(const std::string& outcome) {
  state_->failures.Add({{"outcome", outcome}}).Increment();
}

void Metrics::held_back() {
  state_->repeats.Increment();
}

void Metrics::planned(double seconds, double processor_seconds) {
  state_->plans.Observe(seconds);
  state_->plan_cpu.Observe(processor_seconds);
}

void Metrics::decided(double seconds, double in_work) {
  state_->decided.Observe(seconds);
  state_->decided_in_work.Observe(in_work);
}

void Metrics::carried_out(double seconds) {
  state_->decisions.Observe(seconds);
}

void Metrics::set_lists(const std::string& path, int lists) {
  state_->lists.Add({{"path", path}}).Set(lists);
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, state_->registry.Collect());
  return out.str();
}

// The controller's present state for Prometheus: jobs by state, how many of them wait for room, and how long.

std::string Controller::metrics_text() {
  std::map<std::string, int> states;
  std::map<std::pair<std::string, std::string>, double> waiting;
  int asked = 0, in_vain = 0;
  for (const auto& job : caches_.jobs()) {
    ++states[state_of(job->status.conditions)];
    if (const auto since = waits_for_room_since(job->status))
      waiting[{job->meta.space, job->meta.name}] = double((around_.now() - *since).count());
    if (!waits_for_places_since(job->status)) continue;
    const Condition* request = find_condition(job->status.conditions, kNodesRequested);
    asked += request && request->holds;
    in_vain += request && !request->holds && is_in_vain(request->reason);
  }
  around_.metrics.set_node_requests(asked, in_vain);
  around_.metrics.set_jobs(states);
  around_.metrics.set_waiting(waiting);
  around_.metrics.set_depth(queue_.depth());
  return around_.metrics.text();
}

std::map<std::string, std::size_t> Controller::remembered() const {
  std::map<std::string, std::size_t> all;
  all["expectations"] = expectations_.size();
  all["feedback"] = feedbacks_.size();
  all["repeats"] = repeats_.size();
  all["server waits"] = server_delays_.size();
  all["progress"] = poller_.size();
  all["waiting"] = planner_.size();
  all["requests"] = requests_.size();
  all["queue"] = queue_.size();
  all["errands"] = handover_.size();
  std::lock_guard lock(mutex_);
  all["queued"] = queued_.size();
  all["written"] = written_.size();
  return all;
}

}  // namespace atl::ctl
