// The operator's metrics for Prometheus. Some have the names that dashboards of other controllers use.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace atl::ctl {

/// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  // rest_client_*: one request to the API server; code 0: no answer.
  void requested(const std::string& method, int code, double seconds);
  // workqueue_*
  void queued(bool again);  // again: after a failure
  void taken(double waited_seconds);
  void worked(double seconds);  // on one job, whether or not it needed anything
  void set_depth(std::size_t depth);
  // leader_election_master_status
  void set_leads(bool leads);
  // atoll_job_*
  void set_jobs(const std::map<std::string, int>& by_state);
  /// Seconds for which gangs have waited for room, by namespace and name. Only the kMostWaiting longest waits
  /// are exported, because each is a series of its own.
  void set_waiting(const std::map<std::pair<std::string, std::string>, double>& seconds_by_job);
  static constexpr std::size_t kMostWaiting = 200;
  /// The numbers of gangs for which nodes are asked for, and of those for which none came.
  void set_node_requests(int asked, int in_vain);
  void restarted(const std::string& reason);
  void failed(const std::string& outcome);  // a decision that couldn't be carried out
  void held_back();                         // a decision that was carried out three times in a row
  void planned(double seconds, double processor_seconds);  // one gang
  void decided(double seconds, double in_work);            // NewsAge's times, if a write follows
  void carried_out(double seconds);  // from when the job was queued until the writes are done
  // atoll_watch_lists: how often each resource was listed. More than once means that a watch was interrupted
  // for too long.
  void set_lists(const std::string& path, int lists);

  /// In Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl::ctl
