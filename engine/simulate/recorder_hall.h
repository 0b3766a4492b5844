// A part of the recorder: the place where the threads of all ranks meet and take turns.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "comm/lane_slots.h"
#include "comm/stream_watcher.h"
#include "simulate/rank_notes.h"
#include "simulate/recorded_rank.h"
#include "simulate/recorder.h"

namespace atl {

// Notes of a rank's threads that make mini-batches, batch by batch.

/// Calls about a maker come from that maker's thread; open() and take() come while no maker runs.
class BatchNotes {
 public:
  /// `alone`: as in RankNotes.
  explicit BatchNotes(bool alone) : alone_(alone) {}

  void open(int makers, int ahead);
  RankNotes& of(int maker) { return makers_[std::size_t(maker)].notes; }
  void makes(int maker, std::int64_t step);
  void made(int maker);
  RecordedBatches take();

 private:
  struct Maker {
    RankNotes notes;
    std::int64_t step = 0;  // the step whose batch it makes
  };
  bool alone_;
  int ahead_ = 0;
  std::deque<Maker> makers_;
  std::mutex lock_;                                // guards the members that follow
  std::map<std::int64_t, RecordedBatch> batches_;  // by step
};

/// The place where ranks meet. The rank that comes second to a message passes it on, under the lock.
struct Recorder::Hall : LaneSlots::Watcher {
  /// A thread of a rank.
  struct Worker {
    // One per thread, because notifying a shared one would wake threads on cores where others compute.
    std::condition_variable came;
    bool is_here = true;
    const Operation* awaited = nullptr;  // the operation that the thread waits for
    bool stands_for_others = false;      // the thread waits for another thread of its rank
    bool stands() const {
      return stands_for_others || (awaited != nullptr && !awaited->finished.load(std::memory_order_acquire));
    }
    int turn = -1;  // the turn that the thread holds; −1: none
  };
  struct Place {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<LaneSlots> slots;
    std::deque<Worker> workers{1};  // the thread that trains, and those that make batches
    Worker explainer;               // absent, unless a thread explains
    Worker& worker(int maker) {
      return maker == StreamWatcher::kExplains ? explainer : workers[std::size_t(maker) + 1];
    }
    void wake() {
      for (Worker& each : workers) each.came.notify_all();
    }
    // Each of these is used by one thread alone.
    RankNotes notes;
    BatchNotes batches;
    RankNotes explains;
    std::vector<RecordedBatch> explanations;
    Place(std::unique_ptr<Transport> its_transport, std::unique_ptr<LaneSlots> its_slots, bool alone)
        : transport(std::move(its_transport)),
          slots(std::move(its_slots)),
          notes(alone),
          batches(alone),
          explains(alone) {
      explainer.is_here = false;
    }
  };

  void starts(LaneSlots::Running&) override {}
  void moves(const LaneSlots::Running&) override {}
  void arrives(const LaneSlots::Running&) override {}

  /// Advances all ranks' operations until nothing moves, because what one rank posts lets others go on.
  void advance() {
    try {
      for (bool moved = true; moved;) {
        moved = false;
        for (Place& place : places) {
          if (place.slots->take_next()) moved |= place.slots->advance_all();
          if (place.slots->finish_arrived()) place.wake();
        }
      }
    } catch (const std::exception& error) {
      fail_all(error.what());
    }
  }
  void fail_all(const std::string& why) {
    if (broken.empty()) broken = why;
    for (Place& place : places) {
      place.transport->abandon();
      place.slots->fail_all(broken);
      place.wake();
    }
  }
  /// Fails all operations if every thread waits. Called when a thread has begun to wait, or has left.
  void look_for_standstill() {
    bool any = false;
    for (const Place& place : places) {
      if (place.explainer.is_here && !place.explainer.stands()) return;
      for (const Worker& worker : place.workers) {
        if (worker.is_here && !worker.stands()) return;
        any |= worker.stands();
      }
    }
    if (any) fail_all("all ranks wait for each other: they don't make the same calls in the same order");
  }

  void take_turn(std::unique_lock<std::mutex>& guard, Worker& worker) {
    turn_is_free.wait(guard, [this] { return !free_turns.empty(); });
    worker.turn = free_turns.back();
    free_turns.pop_back();
    ++turns;
    if (alone) stay_on_processor(worker.turn, processors);
  }
  void give_turn(Worker& worker) {
    free_turns.push_back(std::exchange(worker.turn, -1));
    turn_is_free.notify_one();
  }
  void leave(Worker& worker) {
    const std::lock_guard guard(lock);
    worker.is_here = false;
    give_turn(worker);
    look_for_standstill();
  }

  std::deque<Place> places;  // by rank
  const std::vector<int> processors = allowed_processors();
  mutable std::mutex lock;  // guards `places` except their notes, and the members that follow
  std::condition_variable turn_is_free;
  Rank first_to_give_up = -1;
  std::vector<int> free_turns;
  std::int64_t turns = 0;  // given to threads so far
  bool alone = true;
  std::string broken;
};

inline void BatchNotes::open(int makers, int ahead) {
  ahead_ = ahead;
  makers_.clear();
  for (int maker = 0; maker < makers; ++maker) makers_.push_back({RankNotes(alone_)});
}

inline void BatchNotes::makes(int maker, std::int64_t step) {
  makers_[std::size_t(maker)].step = step;
  of(maker).begin_batch();
}

inline void BatchNotes::made(int maker) {
  of(maker).stop();
  RankRecording noted = of(maker).take();
  const std::lock_guard guard(lock_);
  batches_[makers_[std::size_t(maker)].step] = {std::move(noted.steps), std::move(noted.operations)};
}

inline RecordedBatches BatchNotes::take() {
  RecordedBatches all{.makers = int(makers_.size()), .ahead = ahead_, .all = {}};
  for (auto& [step, batch] : batches_) all.all.push_back(std::move(batch));
  batches_.clear();
  return all;
}

}  // namespace atl
