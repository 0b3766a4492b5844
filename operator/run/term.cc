#include "operator/run/term.h"

#include <pthread.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "operator/run/act.h"
#include "operator/run/log.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

const std::string kLeaseName = "atoll-operator";
/// Threads that decide on jobs. They wait for nothing but each other's plans: one thread goes on while the
/// other plans.
constexpr int kLookers = 2;

Moment time_of_day() {
  return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

}  // namespace

Term::Term(const Lasting& lasting)
    : lasting_(lasting),
      client_(lasting.transport, connections_.get_token(), kWorkersRetry),
      lease_client_(lasting.lease_transport, connections_.get_token(), {.times = 0}),
      other_installations_(lease_client_, lasting.options, lease_options()),
      lease_(lease_client_, lease_options()),
      controller_(lasting.options,
                  {.caches = lasting.caches,
                   .news = lasting.news,
                   .client = client_,
                   .metrics = lasting.metrics,
                   .may_write = [this] { return !lasting_.options.elects || lease_.leads(); },
                   .now = time_of_day}) {}

kube::LeaseOptions Term::lease_options() const {
  const Options& options = lasting_.options;
  kube::LeaseOptions lease;
  lease.space = options.settings.operator_space;
  const bool is_default = options.operator_class == kDefaultClass;
  lease.name = kLeaseName + (is_default ? "" : "-" + options.operator_class);
  OtherInstallations::describe(options, lease);
  lease.identity = options.identity;
  lease.duration = options.lease;
  lease.renew_within = options.renew_within;
  lease.retry = options.lease_retry;
  lease.is_fit = [&feeds = lasting_.feeds] { return feeds.are_fresh(); };
  lease.on_problem = [name = lease.space + "/" + lease.name](const std::string& why) {
    log_warning(
        "lease {}: can't be taken or renewed, so this replica can't lead: {} (tried again every few seconds)",
        name, why);
  };
  return lease;
}

/// Contends for the lease; false if `stop` came first. A replica that has the lease, but can't find out now
/// whether another installation handles the same jobs, gives the lease back and tries again.
bool Term::acquire(const std::stop_token& stop) {
  other_installations_.expect_none(stop);
  bool is_told = false;
  while (lease_.acquire(stop)) {
    try {
      if (other_installations_.expect_none_new()) return true;
    } catch (const Error&) {
      lease_.release();
      throw;
    }
    lease_.release();
    if (!std::exchange(is_told, true))
      log_warning(
          "the leases can't be listed now, so whether another operator sees to the same jobs isn't known: "
          "this replica gives its lease back, and tries again every few seconds");
    if (!kube::steady_clock().sleep(lasting_.options.lease_retry, stop)) break;
  }
  return false;
}

bool Term::serve(const std::stop_token& stop) {
  if (lasting_.options.elects && !acquire(stop)) return true;
  log_info(lasting_.options.log_level, "{} leads", lasting_.options.identity);
  lasting_.metrics.set_leads(true);
  lead(stop);
  return stop.stop_requested();
}

/// Works until `stop`, until the caches are out of touch with the cluster, or until the lease is lost.
void Term::lead(const std::stop_token& stop) {
  const std::jthread lapse([this](const std::stop_token& over) { end_with_lease(over); });
  bool leads_still = true;
  {
    std::stop_source work;
    const std::jthread worker([&] { do_work(work.get_token()); });
    leads_still = hold(stop);
    lasting_.metrics.set_leads(false);
    is_ending_ = true;
    if (!stop.stop_requested()) tell_loss(leads_still);
    work.request_stop();                            // no new jobs are taken; those in work are finished
    if (!leads_still) connections_.request_stop();  // without a lease nothing may be written
  }
  if (!leads_still) return;
  controller_.flush_events();
  if (lasting_.options.elects) lease_.release();
}

/// Breaks off all work when the lease lapses, even if a renewal hangs or the last jobs are still in work. It
/// cancels requests. A plan, or a question to a rank, can't be cancelled, but its time is limited.
void Term::end_with_lease(const std::stop_token& over) {
  if (!lasting_.options.elects || !lease_.await_lapse(over)) return;
  connections_.request_stop();
  if (!kube::steady_clock().sleep(kLongestEnd, over)) return;
  log_warning("what was under way when the lease was lost hasn't ended within {} s: this process ends",
              kLongestEnd.count() / 1000);
  lasting_.end_process();
}

/// Keeps the lease, and returns whether this replica still leads.
bool Term::hold(const std::stop_token& stop) {
  if (lasting_.options.elects) return lease_.hold(stop);
  while (kube::steady_clock().sleep(Milliseconds(60'000), stop)) {
  }
  return true;
}

void Term::tell_loss(bool leads_still) const {
  constexpr const char* kThen =
      "another replica may lead; this one drops what it has decided, and contends again";
  if (leads_still)
    log_warning("out of touch with the API server: {}; {}", lasting_.feeds.out_of_touch(), kThen);
  else
    log_warning("the lease is lost{}: {}", lease_.problem().empty() ? "" : " (" + lease_.problem() + ")",
                kThen);
}

void Term::do_work(const std::stop_token& stop) {
  log_info(lasting_.options.log_level, "{} workers begin", lasting_.options.workers);
  controller_.look_at_all();
  std::vector<std::jthread> threads;
  const auto begin = [&](const char* name, int count, const std::function<void()>& work) {
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([=] {
        pthread_setname_np(pthread_self(), name);  // as `top -H` and /proc show it
        work();
      });
    }
  };
  begin("look", kLookers, [&] { controller_.look(stop); });
  begin("write", lasting_.options.workers, [&] { controller_.write(stop); });
  begin("progress", 1, [&] { controller_.poll_progress(&ProgressPoller::poll_prompt, stop); });
  begin("slow progress", 1, [&] { controller_.poll_progress(&ProgressPoller::poll_slow, stop); });
  begin("events", 1, [&] { controller_.send_events(stop); });
}

}  // namespace atl::ctl
