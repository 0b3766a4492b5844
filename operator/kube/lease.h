// Decides which of several replicas leads: the one that a Lease object names as its holder, and that renews
// the lease. Another replica takes over when it hasn't seen a renewal for the lease's duration *by its own
// clock*, because clocks of different machines needn't agree.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "operator/kube/client.h"
#include "operator/kube/clock.h"
#include "operator/kube/transport.h"

namespace atl::kube {

const Resource& leases_resource();

struct LeaseOptions {
  std::string space, name;
  std::string identity;                   // our name, which is unique: the pod's
  std::chrono::seconds duration{15};      // how long others leave us the lead after a renewal
  std::chrono::seconds renew_within{10};  // then we stop leading, before others begin
  std::chrono::seconds retry{2};
  /// Whether we could do a leader's work. If not, we leave the lead to others.
  std::function<bool()> is_fit = [] { return true; };
  std::map<std::string, std::string> labels{}, annotations{};  // the Lease object's while we hold it
  /// Called with the server's refusal, or with why there was no answer, whenever these words change.
  /// Otherwise a replica that may not have the lease would wait for it in silence.
  std::function<void(const std::string& why)> on_problem = [](const std::string&) {};
};

/// Used by one thread, but any thread may call leads() and await_lapse().
class Lease {
 public:
  /// The client should be used for this lease alone, on a transport of its own, because renewals would be
  /// late behind other requests. It should not retry anything by itself. All arguments must outlive the
  /// lease.
  Lease(Client& client, LeaseOptions options, Clock& clock = steady_clock());

  /// Waits until we are fit and lead. Returns false if `stop` came first.
  bool acquire(const std::stop_token& stop);
  /// Renews the lease. Returns true after `stop`, or when we are no longer fit; we still lead then. Returns
  /// false when the lease is lost; nothing more may be written then that was decided under it.
  bool hold(const std::stop_token& stop);
  /// Lets others take over at once. Call it after hold() has returned true, when nothing more will be
  /// written.
  void release();

  /// Why the last try didn't give us the lead, although nobody else has it. "" if we lead, or somebody else
  /// does.
  const std::string& problem() const { return problem_; }

  /// Whether we lead, and still will for some time. Any thread may call it.
  bool leads() const;
  /// Waits until we no longer lead, even if a renewal is under way. Returns false if `stop` came first. Any
  /// thread may call it.
  bool await_lapse(const std::stop_token& stop) const;

 private:
  /// What concerns us in the Lease object.
  struct Record {
    std::string text;                   // the whole object
    std::string holder, renewed;        // a change of either shows that the holder is alive
    std::chrono::seconds duration{15};  // as its holder wrote it
  };
  bool try_once();
  void lack(const std::string& why);
  std::optional<Record> read();
  void observe(const Record& record);
  bool may_take(const Record& record);
  bool write(const std::optional<Record>& before, const std::string& holder);

  Client& client_;
  const LeaseOptions options_;
  Clock& clock_;
  std::string path_;
  std::string seen_;          // holder and renewal time, as last seen
  Clock::Time seen_since_{};  // by our clock
  std::string problem_, told_;
  std::atomic<Clock::Time> leads_until_{Clock::Time::min()};
};

}  // namespace atl::kube
