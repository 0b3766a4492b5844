#include "operator/run/program.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "http/http_endpoint.h"
#include "operator/kube/config.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/lease.h"
#include "operator/run/controller.h"
#include "operator/run/feeds.h"
#include "operator/run/log.h"
#include "operator/run/metered_transport.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

constexpr const char* kLeaseName = "atoll-operator";
constexpr Milliseconds kLook{100};

Moment time_of_day() {
  return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

/// Everything of one run. What comes later uses what comes before.
class Operator {
 public:
  Operator(const Options& options, const kube::ClusterConfig& config)
      : options_(options),
        transport_(kube::cpprest_transport(config.server, config.credentials)),
        metered_(*transport_, metrics_),
        client_(metered_, connections_.get_token()),
        lease_transport_(kube::cpprest_transport(config.server, config.credentials)),
        lease_client_(*lease_transport_, connections_.get_token(), {.times = 0}),
        lease_(lease_client_, lease_options()),
        controller_(options, {.client = client_,
                              .metrics = metrics_,
                              .may_write = [this] { return !options_.elects || lease_.leads(); },
                              .now = time_of_day}),
        feeds_(client_, controller_.caches(), connections_.get_token()),
        endpoint_(options.metrics_host, options.metrics_port, pages()) {}
  ~Operator() { connections_.request_stop(); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  int run(const std::stop_token& stop) {
    log_info("serving health and metrics on {}:{}", options_.metrics_host, endpoint_.port());
    if (options_.elects && !lease_.acquire(stop)) return 0;
    log_info("{} leads", options_.identity);
    metrics_.set_leads(true);
    const bool leads_still = lead(stop);
    metrics_.set_leads(false);
    if (!leads_still) log_warning("the lease is lost: another replica may lead; this one ends");
    return leads_still ? 0 : 1;
  }

 private:
  kube::LeaseOptions lease_options() const {
    kube::LeaseOptions lease;
    lease.space = options_.settings.operator_space;
    lease.name = kLeaseName;
    lease.identity = options_.identity;
    lease.duration = options_.lease;
    lease.renew_within = options_.renew_within;
    lease.retry = options_.lease_retry;
    return lease;
  }

  HttpPages pages() {
    return {{"/healthz",
             [] {
               return HttpPage{"text/plain", "ok\n"};
             }},
            {"/readyz",
             [this] {
               if (is_ending_) fail("ending");
               if (!feeds_.have_synced()) fail("not listed yet: {}", feeds_.missing());
               return HttpPage{"text/plain", "ok\n"};
             }},
            {"/metrics", [this] {
               feeds_.report(metrics_);
               return HttpPage{"text/plain; version=0.0.4; charset=utf-8", controller_.metrics_text()};
             }}};
  }

  /// Works until `stop`, or the lease is lost (false).
  bool lead(const std::stop_token& stop) {
    std::stop_source work;
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { start_work(work.get_token()); });
    const bool leads_still = options_.elects ? lease_.hold(stop) : wait_for(stop);
    is_ending_ = true;
    work.request_stop();                            // no new jobs are taken; those in hand are finished
    if (!leads_still) connections_.request_stop();  // or broken off: nothing may be written
    threads.clear();
    if (!leads_still) return false;
    controller_.flush_events();
    if (options_.elects) lease_.release();
    return true;
  }

  void start_work(const std::stop_token& stop) {
    while (!feeds_.have_synced())
      if (!kube::steady_clock().sleep(kLook, stop)) return;
    log_info("all caches are filled; {} workers begin", options_.workers);
    controller_.look_at_all();
    std::vector<std::jthread> threads;
    for (int w = 0; w < options_.workers; ++w) threads.emplace_back([&] { controller_.work(stop); });
    threads.emplace_back([&] { controller_.poll_progress(stop); });
    threads.emplace_back([&] { controller_.send_events(stop); });
  }

  static bool wait_for(const std::stop_token& stop) {
    while (kube::steady_clock().sleep(Milliseconds(60'000), stop)) {
    }
    return true;
  }

  const Options options_;
  std::stop_source connections_;
  std::atomic<bool> is_ending_ = false;
  Metrics metrics_;
  const std::unique_ptr<kube::Transport> transport_;
  MeteredTransport metered_;
  kube::Client client_;
  const std::unique_ptr<kube::Transport> lease_transport_;  // of its own: renewals wait behind nothing
  kube::Client lease_client_;
  kube::Lease lease_;
  Controller controller_;
  Feeds feeds_;
  HttpEndpoint endpoint_;
};

}  // namespace

int run_operator(const Options& options, const std::stop_token& stop) {
  const kube::ClusterConfig config = kube::find_config(options.kubeconfig);
  Options whole = options;
  if (whole.settings.operator_space.empty()) whole.settings.operator_space = config.space;
  log_info("cluster {}, namespace {}", config.server, whole.settings.operator_space);
  Operator run(whole, config);
  return run.run(stop);
}

}  // namespace atl::ctl
