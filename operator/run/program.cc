#include "operator/run/program.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "http/http_endpoint.h"
#include "operator/kube/config.h"
#include "operator/kube/transport.h"
#include "operator/run/controller.h"
#include "operator/run/feeds.h"
#include "operator/run/log.h"
#include "operator/run/metrics.h"
#include "operator/run/present_listener.h"
#include "operator/run/term.h"

namespace atl::ctl {
namespace {

// A transport that counts its requests in the metrics rest_client_*.

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

constexpr kube::Milliseconds kLook{100};

/// All objects of one run. Later members use earlier ones.
class Operator {
 public:
  Operator(const Options& options, const kube::ClusterConfig& config, std::function<void()> end_process)
      : options_(options),
        end_process_(std::move(end_process)),
        transport_(kube::cpprest_transport(config.server, config.credentials)),
        metered_(*transport_, metrics_),
        client_(metered_, connections_.get_token()),
        lease_transport_(kube::cpprest_transport(config.server, config.credentials)),
        caches_(scope_of(options), news_),
        feeds_(client_, caches_, connections_.get_token()),
        endpoint_(options.metrics_host, options.metrics_port, pages()) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void run(const std::stop_token& stop) {
    log_info(options_.log_level, "serving health and metrics on {}:{}", options_.metrics_host,
             endpoint_.port());
    if (!fill_caches(stop)) return;
    while (!term_->serve(stop) && !stop.stop_requested()) begin_term();
  }

 private:
  void begin_term() {
    std::lock_guard lock(mutex_);
    term_.reset();  // so that the next term alone hears of changes
    term_ = new_term();
  }
  std::unique_ptr<Term> new_term() {
    return std::make_unique<Term>(Term::Lasting{.options = options_,
                                                .transport = metered_,
                                                .lease_transport = *lease_transport_,
                                                .metrics = metrics_,
                                                .news = news_,
                                                .caches = caches_,
                                                .feeds = feeds_,
                                                .end_process = end_process_});
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
               if (!feeds_.have_synced()) fail("not listed yet: {}", feeds_.missing());
               std::lock_guard lock(mutex_);
               if (term_->is_ending()) fail("ending");
               return HttpPage{"text/plain", "ok\n"};
             }},
            {"/metrics", [this] {
               feeds_.report(metrics_);
               std::lock_guard lock(mutex_);
               return HttpPage{"text/plain; version=0.0.4; charset=utf-8", term_->metrics_text()};
             }}};
  }

  /// Fills the caches before this replica contends for the lease, because a leader that knows nothing of the
  /// cluster can do nothing. Returns false if `stop` came first.
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

  /// Stops the threads of the feeds before they are joined. It does so too if a later member's constructor
  /// throws, for example because the port of the pages is taken.
  struct EndOfFeeds {
    std::stop_source& connections;
    ~EndOfFeeds() { connections.request_stop(); }
  };

  const Options options_;
  const std::function<void()> end_process_;
  std::stop_source connections_;  // of the feeds
  Metrics metrics_;
  const std::unique_ptr<kube::Transport> transport_;
  MeteredTransport metered_;
  kube::Client client_;
  const std::unique_ptr<kube::Transport> lease_transport_;
  PresentListener news_;
  Caches caches_;
  Feeds feeds_;
  const EndOfFeeds end_of_feeds_{connections_};
  std::mutex mutex_;  // guards term_, which the pages' threads read
  std::unique_ptr<Term> term_ = new_term();
  HttpEndpoint endpoint_;
};

}  // namespace

void run_operator(const Options& options, const std::stop_token& stop,
                  const std::function<void()>& end_process) {
  const kube::ClusterConfig config = kube::find_config(options.kubeconfig);
  Options whole = options;
  if (whole.settings.operator_space.empty()) whole.settings.operator_space = config.space;
  log_info(options.log_level, "cluster {}, namespace {}", config.server, whole.settings.operator_space);
  Operator(whole, config, end_process).run(stop);
}

}  // namespace atl::ctl
