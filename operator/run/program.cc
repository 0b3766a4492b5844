#include "operator/run/program.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "http/http_endpoint.h"
#include "operator/kube/config.h"
#include "operator/kube/lease.h"
#include "operator/kube/transport.h"
#include "operator/run/controller.h"
#include "operator/run/feeds.h"
#include "operator/run/log.h"
#include "operator/run/metrics.h"
#include "operator/run/other_installations.h"

namespace atl::ctl {
namespace {

// A transport that counts its requests: rest_client_*.

/// Both arguments must outlive it.
class MeteredTransport final : public kube::Transport {
 public:
  MeteredTransport(kube::Transport& inner, Metrics& metrics) : inner_(inner), metrics_(metrics) {}

  std::unique_ptr<kube::Stream> open(const kube::Request& request) override {
    const auto begun = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    try {
      auto stream = inner_.open(request);
      metrics_.requested(request.method, stream->head().status, seconds());
      return stream;
    } catch (const kube::TransportError& error) {
      if (error.kind() != kube::TransportError::Kind::kCancelled)
        metrics_.requested(request.method, 0, seconds());
      throw;
    }
  }

 private:
  kube::Transport& inner_;
  Metrics& metrics_;
};

using kube::Milliseconds;

const std::string kLeaseName = "atoll-operator";
constexpr Milliseconds kLook{100};
/// Threads that decide, which wait for nothing but each other's plans: one goes on while another plans.
constexpr int kLookers = 2;

Moment time_of_day() {
  return std::chrono::floor<Seconds>(std::chrono::system_clock::now());
}

/// Everything of one run. Later members use earlier ones.
class Operator {
 public:
  Operator(const Options& options, const kube::ClusterConfig& config)
      : options_(options),
        transport_(kube::cpprest_transport(config.server, config.credentials)),
        metered_(*transport_, metrics_),
        client_(metered_, connections_.get_token()),
        workers_client_(metered_, connections_.get_token(), kWorkersRetry),
        lease_transport_(kube::cpprest_transport(config.server, config.credentials)),
        lease_client_(*lease_transport_, connections_.get_token(), {.times = 0}),
        other_installations_(lease_client_, options_, lease_options()),
        lease_(lease_client_, lease_options()),
        controller_(options, {.client = workers_client_,
                              .metrics = metrics_,
                              .may_write = [this] { return !options_.elects || lease_.leads(); },
                              .now = time_of_day}),
        feeds_(client_, controller_.caches(), connections_.get_token()),
        endpoint_(options.metrics_host, options.metrics_port, pages()) {}
  ~Operator() { connections_.request_stop(); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  int run(const std::stop_token& stop) {
    log_info(options_.log_level, "serving health and metrics on {}:{}", options_.metrics_host,
             endpoint_.port());
    if (!fill_caches(stop)) return 0;
    if (options_.elects && !acquire(stop)) return 0;
    log_info(options_.log_level, "{} leads", options_.identity);
    metrics_.set_leads(true);
    const bool leads_still = lead(stop);
    metrics_.set_leads(false);
    if (leads_still && stop.stop_requested()) return 0;
    if (leads_still)
      log_warning("out of touch with the API server: {}; another replica may lead, this one ends",
                  feeds_.out_of_touch());
    else
      log_warning("the lease is lost{}: another replica may lead; this one ends",
                  lease_.problem().empty() ? "" : " (" + lease_.problem() + ")");
    return 1;
  }

 private:
  /// False where `stop` came first. Throws Error where another installation handles the same jobs.
  bool acquire(const std::stop_token& stop) {
    other_installations_.expect_none(stop);
    if (!lease_.acquire(stop)) return false;
    try {
      other_installations_.expect_none_new();
    } catch (const Error&) {
      lease_.release();
      throw;
    }
    return true;
  }

  kube::LeaseOptions lease_options() const {
    kube::LeaseOptions lease;
    lease.space = options_.settings.operator_space;
    const bool is_default = options_.operator_class == kDefaultClass;
    lease.name = kLeaseName + (is_default ? "" : "-" + options_.operator_class);
    OtherInstallations::describe(options_, lease);
    lease.identity = options_.identity;
    lease.duration = options_.lease;
    lease.renew_within = options_.renew_within;
    lease.retry = options_.lease_retry;
    lease.is_fit = [this] { return feeds_.are_fresh(); };
    lease.on_problem = [name = lease.space + "/" + lease.name](const std::string& why) {
      log_warning(
          "lease {}: can't be taken or renewed, so this replica can't lead: {} (tried again every few seconds)",
          name, why);
    };
    return lease;
  }

  HttpPages pages() {
    return {{"/healthz",
             [this] {
               const std::string fault = feeds_.out_of_touch();
               if (!fault.empty()) fail("out of touch with the API server: {}", fault);
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

  /// Fills the caches before it contends for the lease, because a leader that knows nothing of the cluster
  /// can do nothing. False where `stop` came first.
  bool fill_caches(const std::stop_token& stop) {
    bool is_told = false;
    while (!feeds_.have_synced()) {
      if (!kube::steady_clock().sleep(kLook, stop)) return false;
      if (is_told || feeds_.out_of_touch().empty()) continue;
      log_warning("not listed yet: {}", feeds_.missing());
      is_told = true;
    }
    log_info(options_.log_level, "all caches are filled");
    return true;
  }

  /// Works until `stop`, or until it is out of touch (true), or the lease is lost (false).
  bool lead(const std::stop_token& stop) {
    bool leads_still = true;
    {
      // Breaks off what is under way when the lease lapses, even if a renewal hangs or the last jobs are in
      // work.
      const std::jthread lapse([this](const std::stop_token& over) {
        if (options_.elects && lease_.await_lapse(over)) connections_.request_stop();
      });
      std::stop_source work;
      const std::jthread worker([&] { do_work(work.get_token()); });
      leads_still = options_.elects ? lease_.hold(stop) : wait_for(stop);
      is_ending_ = true;
      work.request_stop();                            // no new jobs are taken; those in work are finished
      if (!leads_still) connections_.request_stop();  // or broken off, because nothing may be written
    }
    if (!leads_still) return false;
    controller_.flush_events();
    if (options_.elects) lease_.release();
    return true;
  }

  void do_work(const std::stop_token& stop) {
    log_info(options_.log_level, "{} workers begin", options_.workers);
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
    begin("write", options_.workers, [&] { controller_.write(stop); });
    begin("progress", 1, [&] { controller_.poll_progress(&ProgressPoller::poll_prompt, stop); });
    begin("slow progress", 1, [&] { controller_.poll_progress(&ProgressPoller::poll_slow, stop); });
    begin("events", 1, [&] { controller_.send_events(stop); });
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
  kube::Client client_, workers_client_;
  const std::unique_ptr<kube::Transport> lease_transport_;  // its own, so that renewals wait for nothing else
  kube::Client lease_client_;
  OtherInstallations other_installations_;
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
  log_info(options.log_level, "cluster {}, namespace {}", config.server, whole.settings.operator_space);
  Operator run(whole, config);
  return run.run(stop);
}

}  // namespace atl::ctl
