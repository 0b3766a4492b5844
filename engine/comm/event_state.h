// What a Communicator and its Events share: operations that are used again, and the ledger.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/operation.h"

namespace atl {

struct Event::State {
  State(std::unique_ptr<ProgressEngine> engine, Trace* told)
      : trace(told), progress(std::move(engine)), ledger(progress->transport().size()) {}

  /// An operation that nobody holds any more, its vectors' memory kept: the step loop allocates nothing. Each thread that asks
  /// has a pool of its own.
  std::shared_ptr<Operation> fresh_operation(Lane lane, DeviceStream* stream);
  void wait(Operation& operation);

  Trace* trace;
  std::unique_ptr<ProgressEngine> progress;
  std::array<std::vector<std::shared_ptr<Operation>>, 2> pools;
  std::vector<std::byte> terms;  // of the sum that is waited for; grows once
  mutable std::mutex lock;       // guards the ledger
  Ledger ledger;

 private:
  std::shared_ptr<Operation> free_operation(Lane lane);
};

}  // namespace atl
