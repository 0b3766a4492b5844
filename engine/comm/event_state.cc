#include "comm/event_state.h"

#include <chrono>

#include "base/error.h"

namespace atl {

std::shared_ptr<Operation> Event::State::fresh_operation(Lane lane, DeviceStream* stream) {
  const std::shared_ptr<Operation> operation = free_operation(lane);
  operation->stream = stream;
  operation->after = stream == nullptr ? 0 : stream->mark();
  return operation;
}

std::shared_ptr<Operation> Event::State::free_operation(Lane lane) {
  auto& pool = pools[lane == Lane::kPrefetch ? 1 : 0];
  for (auto& operation : pool)
    if (operation.use_count() == 1 && operation->finished.load(std::memory_order_acquire)) {
      operation->sends.clear(), operation->receives.clear();
      operation->finished.store(false, std::memory_order_relaxed);
      operation->failure.clear();
      operation->sums = false;
      operation->device_sum = {};
      return operation;
    }
  return pool.emplace_back(std::make_shared<Operation>());
}

void Event::State::wait(Operation& operation) {
  const auto begin = std::chrono::steady_clock::now();
  const bool computes = operation.lane != Lane::kPrefetch;  // the thread that stands here
  const bool is_over = operation.finished.load(std::memory_order_acquire);
  Trace* const told = is_over || !computes ? nullptr : trace;
  if (told != nullptr) told->begin_wait();
  if (!is_over && operation.stream != nullptr) operation.stream->wait(operation.after);
  progress->wait(operation);
  if (told != nullptr) told->end_wait(operation.purpose);
  if (computes) {
    std::lock_guard guard(lock);
    const auto waited_for = std::chrono::steady_clock::now() - begin;
    ledger.add_exposed(operation.purpose, std::chrono::duration<double>(waited_for).count());
  }
  if (!operation.failure.empty()) throw Error(operation.failure);
}

}  // namespace atl
