#include "comm/lane_slots.h"

#include <span>
#include <utility>

namespace atl {

/// A free slot; null: the operation has to wait. Operations of bulk and prefetch take any free slot. Sums
/// over all ranks take their slots in turn, so that a sum has the same slot on every rank. All other
/// operations of the small lane share one slot, including sums over groups, because ranks may run different
/// numbers of them.
LaneSlots::Running* LaneSlots::place_of(const Operation& operation) {
  const auto slots =
      std::span(running_[std::size_t(operation.lane)]).first(std::size_t(slots_of(operation.lane)));
  const auto is_free = [](const Running& running) { return running.operation == nullptr; };
  if (operation.lane != Lane::kSmall) {
    const auto free = std::ranges::find_if(slots, is_free);
    return free == slots.end() ? nullptr : &*free;
  }
  const bool takes_turns = operation.sums && operation.of_everyone;
  Running& place = slots[takes_turns ? 1 + next_sum_ : 0];
  if (!is_free(place)) return nullptr;
  if (takes_turns) next_sum_ = (next_sum_ + 1) % kSumsAtOnce;
  return &place;
}

bool LaneSlots::take_next() {
  for (auto& queue : queues_) {
    while (!queue.empty() && queue.front()->is_ready()) {
      Running* const place = place_of(*queue.front());
      if (place == nullptr) break;
      *place = {.operation = std::move(queue.front())};
      queue.erase(queue.begin());
    }
  }
  return any_running();
}

bool LaneSlots::any_running() const {
  for (const auto& lane : running_)
    if (std::ranges::any_of(lane, [](const Running& running) { return running.operation != nullptr; }))
      return true;
  return false;
}

bool LaneSlots::advance_all() {
  bool moved = false;
  for (auto& lane : running_)
    for (int slot = 0; slot < kSlots; ++slot) {
      Running& running = lane[std::size_t(slot)];
      if (running.operation && !running.arrived) moved |= advance(running, slot);
    }
  return moved;
}

/// Advances one running operation.
bool LaneSlots::advance(Running& running, int slot) {
  Operation& op = *running.operation;
  const bool starts = running.pending == nullptr;
  if (starts) {
    watcher_.starts(running);
    running.pending = op.device_sum.empty() ? &transport_.start(op.lane, slot, op.sends, op.receives)
                                            : &transport_.start_sum(slot, op.device_sum);
  }
  const bool done = running.pending->done();
  const std::int64_t moved = running.pending->moved();
  if (std::exchange(running.moved, moved) != moved) watcher_.moves(running);
  if (!done) return starts;
  if (op.sums && op.all_reduce.next_round(op.sends, op.receives)) {
    running.pending = &transport_.start(op.lane, slot, op.sends, op.receives);
    running.moved = 0;
    return true;
  }
  watcher_.arrives(running);
  running.arrived = true;
  return true;
}

bool LaneSlots::finish_arrived() {
  bool any = false;
  for_each_running([&](Running& running) {
    if (!running.arrived) return;
    running.operation->finish();
    running = {};
    any = true;
  });
  return any;
}

void LaneSlots::fail_all(const std::string& why) {
  for_each_running([&](Running& running) {
    running.operation->finish(why);
    running = {};
  });
  for (auto& queue : queues_) {
    for (auto& operation : queue) operation->finish(why);
    queue.clear();
  }
}

}  // namespace atl
