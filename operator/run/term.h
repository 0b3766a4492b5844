// One term of a replica. The replica contends for the lease, leads, and ends its term when another replica
// may lead. All that the term has decided, queued and booked ends with it, as if the process had ended. The
// next term begins from what the caches show, so nothing that was decided under a lost lease is written under
// a later one. Caches, connections and pages outlast terms.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>

#include "operator/kube/client.h"
#include "operator/kube/lease.h"
#include "operator/kube/transport.h"
#include "operator/run/controller.h"
#include "operator/run/feeds.h"
#include "operator/run/metrics.h"
#include "operator/run/options.h"
#include "operator/run/other_installations.h"
#include "operator/run/present_listener.h"

namespace atl::ctl {

class Term {
 public:
  /// What outlasts terms. Each reference must outlive every term.
  struct Lasting {
    const Options& options;
    kube::Transport& transport;
    kube::Transport& lease_transport;  // separate, so that renewals wait for nothing else
    Metrics& metrics;
    PresentListener& news;
    Caches& caches;
    const Feeds& feeds;
    /// Ends the process at once. It is called if work of a lost term is still under way after kLongestEnd.
    std::function<void()> end_process;
  };
  explicit Term(const Lasting& lasting);
  Term(const Term&) = delete;
  Term& operator=(const Term&) = delete;

  /// Contends for the lease, and leads. Returns true after `stop`, and false if another replica may lead.
  /// Nothing is under way any more when it returns. Throws Error if another installation handles the same
  /// jobs.
  bool serve(const std::stop_token& stop);

  // From any thread:
  bool is_ending() const { return is_ending_; }
  std::string metrics_text() { return controller_.metrics_text(); }

  static constexpr kube::Milliseconds kLongestEnd{30'000};

 private:
  kube::LeaseOptions lease_options() const;
  bool acquire(const std::stop_token& stop);
  void lead(const std::stop_token& stop);
  void end_with_lease(const std::stop_token& over);
  bool hold(const std::stop_token& stop);
  void tell_loss(bool leads_still) const;
  void do_work(const std::stop_token& stop);

  const Lasting lasting_;
  std::stop_source connections_;  // all requests of the term
  std::atomic<bool> is_ending_ = false;
  kube::Client client_, lease_client_;
  OtherInstallations other_installations_;
  kube::Lease lease_;
  Controller controller_;
};

}  // namespace atl::ctl
