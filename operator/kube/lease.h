// Which of several replicas leads: the one whose name a Lease object holds, and who renews it. Others take
// over when they have not seen it renewed for its duration *by their own clocks*, because clocks of different
// machines needn't agree.
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
  std::string identity;                   // ours: unique, the pod's name
  std::chrono::seconds duration{15};      // during which others leave us the lead
  std::chrono::seconds renew_within{10};  // after which we stop leading, before others begin
  std::chrono::seconds retry{2};
  /// Whether we could do a leader's work; if not, we leave it to others.
  std::function<bool()> is_fit = [] { return true; };
  std::map<std::string, std::string> labels{}, annotations{};  // the object's while we hold it
  /// Called with the server's refusal, or why there was no answer, where these are other words than before: a
  /// replica that may not have the lease would else wait for it in silence.
  std::function<void(const std::string& why)> on_problem = [](const std::string&) {};
};

/// Used by one thread, except leads() and await_lapse().
class Lease {
 public:
  /// The client should be for leases alone, on a transport of its own, because renewals would be late behind
  /// other requests. It should retry nothing itself. All arguments must outlive the lease.
  Lease(Client& client, LeaseOptions options, Clock& clock = steady_clock());

  /// Waits until we are fit and lead; false where `stop` came first.
  bool acquire(const std::stop_token& stop);
  /// Renews until `stop`, or until we are no longer fit (true: we still lead), or until the lease is lost
  /// (false: write nothing more of what was decided under it).
  bool hold(const std::stop_token& stop);
  /// Lets others take over at once. Call it after hold() has returned true, once nothing more is written.
  void release();

  /// Why the last try didn't give us the lead, although nobody else has it; "": it did, or somebody does.
  const std::string& problem() const { return problem_; }

  /// Whether we lead, and will for some time. From any thread.
  bool leads() const;
  /// Waits until we no longer lead, even if a renewal is under way; false where `stop` came first. From any
  /// thread.
  bool await_lapse(const std::stop_token& stop) const;

 private:
  /// The Lease object as far as it concerns us.
  struct Record {
    std::string text;                   // the whole object
    std::string holder, renewed;        // a change of either shows that the holder lives
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
  std::string seen_;          // holder and time of renewal, as last seen
  Clock::Time seen_since_{};  // by our clock
  std::string problem_, told_;
  std::atomic<Clock::Time> leads_until_{Clock::Time::min()};
};

}  // namespace atl::kube
