#include "comm/event_state.h"

#include <chrono>

#include "base/error.h"

namespace atl {

Event::State::~State() {
  for (const auto& each : left) each->stream->leave(*this);
}

std::shared_ptr<Operation> Event::State::fresh_operation(Lane lane, DeviceStream* stream) {
  const std::shared_ptr<Operation> operation = free_operation(lane);
  operation->stream = stream;
  operation->after = stream == nullptr ? 0 : stream->mark();
  if (stream != nullptr && operation->gate == nullptr) operation->gate = stream->make_gate();
  if (operation->gate != nullptr) operation->gate->close();
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

bool Event::State::leave_to_stream(const std::shared_ptr<Operation>& operation) {
  if (operation->gate == nullptr || operation->stream == nullptr ||
      operation->finished.load(std::memory_order_acquire))
    return false;
  if (!operation->stream->stand_at(*operation->gate, *this)) return false;
  left.push_back(operation);
  return true;
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

/// What has failed is told each time: whoever asks may be giving memory back, and can't tell it any further. A library that doesn't come
/// back opens no gates.
void Event::State::wait_for_gates() {
  std::swap(left, waited);
  for (const auto& each : waited) try {
      wait(*each);
    } catch (const Error& error) {
      if (broken.empty()) broken = error.what();
      each->gate->open();
    }
  waited.clear();
  if (!broken.empty()) throw Error(broken);
}

}  // namespace atl
