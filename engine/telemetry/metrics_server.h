// A server's HTTP endpoint: /metrics for Prometheus, /progress (JSON) for the operator, /healthz for probes.
// The server's lowest rank serves all of its ranks at one address. When it is asked, it asks the other ranks
// for their pages, under names that they listen to on this machine. A rank that hangs is reported as such
// (atoll_rank_up, "answers") and delays the answer by at most a second.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/wait_board.h"
#include "telemetry/observer.h"

namespace atl {

struct MetricsPlace {
  std::string host = "127.0.0.1";  // "::": every address, IPv4 and IPv6
  int port = 0;                    // 0: any free one
  std::vector<Rank> ranks{0};      // the ranks of this server
  std::string name;  // name by which these ranks find each other; no other job on this machine may use it
};

/// The endpoint of one rank. Its own thread serves pages until the object is destroyed, and sleeps while
/// nobody asks. Every rank has one.
class MetricsServer : public RunObserver {
 public:
  /// `waits` says whom this rank waits for, and must outlive the server. Throws Error with the address and
  /// the remedy when the port is taken or the address isn't this machine's.
  MetricsServer(const MetricsPlace& place, Rank rank, const WaitBoard& waits);
  ~MetricsServer() override;

  int port() const;  // the port of the server's lowest rank

  void on_start(const RunRecord& run) override;
  void on_epoch(const EpochRecord& epoch) override;
  void on_step(const StepRecord& step) override;
  void on_checkpoint(const Reached& at) override;
  void on_result(const RunRecord& run) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a rank reports to Prometheus: each metric once, made from the run's records.

/// The loop's thread reports to it; any thread may read the page.
class RankMetrics {
 public:
  explicit RankMetrics(Rank rank);
  ~RankMetrics();

  void start(const RunRecord& run);
  void add(const StepRecord& step);
  void add(const EpochRecord& epoch);
  void checkpoint(Index epoch);

  /// The page in Prometheus' text format. Memory is read when the page is asked for, so that it is right in
  /// the middle of a long epoch too.
  std::string text();

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  std::string metric_;  // name of the run's metric: accuracy, …
  bool has_steps_ = false;
};

// Joining is needed because a page in Prometheus' text format may describe a metric in one place only.

/// Joins the pages of several ranks. Each metric is described once (# HELP, # TYPE), and all its samples
/// follow, in the order of the pages.
std::string join_expositions(std::span<const std::string> pages);

}  // namespace atl
