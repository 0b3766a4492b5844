// A running rank's HTTP endpoint: /metrics for Prometheus, /progress (JSON) for the operator, /healthz for
// probes.
#pragma once

#include <memory>
#include <string>

#include "train/observer.h"

namespace atl {

struct MetricsAddress {
  std::string host = "127.0.0.1";  // 0.0.0.0: every interface
  int port = 0;                    // of rank 0, and one more for each rank above; 0: any free one
};

/// Serves until destroyed, from threads of its own that sleep while nobody asks. Every rank may have one.
class MetricsServer : public RunObserver {
 public:
  /// Throws Error naming address and remedy when the port is taken or the address isn't this machine's.
  MetricsServer(const MetricsAddress& address, Rank rank);
  ~MetricsServer() override;

  int port() const;

  void on_start(const RunRecord& run) override;
  void on_epoch(const EpochRecord& epoch) override;
  void on_checkpoint(Index epoch) override;
  void on_result(const RunRecord& run) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
