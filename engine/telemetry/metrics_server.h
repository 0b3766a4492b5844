// A server's HTTP endpoint: /metrics for Prometheus, /progress (JSON) for the operator, /healthz for probes.
// All ranks of a server (of a pod) are told of at one address, which the lowest of them serves. It asks the
// others for their pages, under names that they listen to on this machine, when it is asked itself: a rank
// that hangs is missing, and is said to be (atoll_rank_up, "answers"), but holds nobody up for more than a
// second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/wait_board.h"
#include "telemetry/observer.h"

namespace atl {

struct MetricsPlace {
  std::string host = "127.0.0.1";  // "::": every address, IPv4 and IPv6
  int port = 0;                    // 0: any free one
  std::vector<Rank> ranks{0};      // of this server
  std::string name;                // what they are known by to each other: no other job here may have it
};

/// Serves until destroyed, from a thread of its own that sleeps while nobody asks. Every rank has one.
class MetricsServer : public RunObserver {
 public:
  /// `waits`, which outlives it, tells whom this rank waits for. Throws Error naming address and remedy when
  /// the port is taken or the address isn't this machine's.
  MetricsServer(const MetricsPlace& place, Rank rank, const WaitBoard& waits);
  ~MetricsServer() override;

  int port() const;  // of the lowest rank's

  void on_start(const RunRecord& run) override;
  void on_epoch(const EpochRecord& epoch) override;
  void on_step(const StepRecord& step) override;
  void on_checkpoint(const Reached& at) override;
  void on_result(const RunRecord& run) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
