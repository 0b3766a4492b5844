// What a Communicator and its Events share: operations that are used again, the ledger, and what was left to streams to wait for.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/operation.h"

namespace atl {

struct Event::State final : GateKeeper {
  State(std::unique_ptr<ProgressEngine> engine, Trace* told)
      : trace(told), progress(std::move(engine)), ledger(progress->transport().size()) {}
  ~State() override;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// An operation that nobody holds any more, its vectors' memory kept: the step loop allocates nothing. Each thread that asks
  /// has a pool of its own.
  std::shared_ptr<Operation> fresh_operation(Lane lane, DeviceStream* stream);
  /// Whether its stream waits for it, and not the host.
  bool leave_to_stream(const std::shared_ptr<Operation>& operation);
  /// The host waits.
  void wait(Operation& operation);
  void wait_for_gates() override;

  Trace* trace;
  std::unique_ptr<ProgressEngine> progress;
  std::array<std::vector<std::shared_ptr<Operation>>, 2> pools;
  std::vector<std::byte> terms;                          // of the sum that is waited for; grows once
  std::vector<std::shared_ptr<Operation>> left, waited;  // to their streams; what is being waited for of it
  std::string broken;                                    // why one of these has failed; empty: none has
  mutable std::mutex lock;                               // guards the ledger
  Ledger ledger;

 private:
  std::shared_ptr<Operation> free_operation(Lane lane);
};

}  // namespace atl
