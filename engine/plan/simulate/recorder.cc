#include "plan/simulate/recorder.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <utility>

#include "base/error.h"
#include "comm/lane_slots.h"
#include "comm/local_transport.h"
#include "plan/simulate/batch_notes.h"
#include "plan/simulate/processors.h"

namespace atl {

/// Where ranks meet. Messages are passed under its lock by whoever comes second.
struct Recorder::Hall : LaneSlots::Watcher {
  /// A thread of a rank.
  struct Worker {
    // Its own: who waits on a core that computes must not be woken for others.
    std::condition_variable came;
    bool is_here = true;
    const Operation* awaited = nullptr;  // that it stands waiting for …
    bool stands_for_others = false;      // … or for another thread of its rank
    bool stands() const {
      return stands_for_others || (awaited != nullptr && !awaited->finished.load(std::memory_order_acquire));
    }
    int turn = -1;  // that it holds
  };
  struct Place {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<LaneSlots> slots;
    std::deque<Worker> workers{1};  // the one that trains, and those that make batches
    Worker& worker(int maker) { return workers[1 + std::size_t(maker)]; }
    void wake() {
      for (Worker& each : workers) each.came.notify_all();
    }
    // The threads' own:
    RankNotes notes;
    BatchNotes batches;
    Place(std::unique_ptr<Transport> its_transport, std::unique_ptr<LaneSlots> its_slots, bool alone)
        : transport(std::move(its_transport)), slots(std::move(its_slots)), notes(alone), batches(alone) {}
  };

  void starts(LaneSlots::Running&) override {}
  void moves(const LaneSlots::Running&) override {}
  void arrives(const LaneSlots::Running&) override {}

  /// Until nothing moves: what one rank posts lets others go on.
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
  /// Called where a thread has begun to wait, or has left.
  void look_for_standstill() {
    bool any = false;
    for (const Place& place : places)
      for (const Worker& worker : place.workers) {
        if (worker.is_here && !worker.stands()) return;
        any |= worker.stands();
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
  mutable std::mutex lock;  // guards places but their notes, and what follows
  std::condition_variable turn_is_free;
  Rank first_to_give_up = -1;
  std::vector<int> free_turns;
  std::int64_t turns = 0;  // that threads were given so far
  bool alone = true;
  std::string broken;
};

/// Those of a rank that make batches have turns of their own.
class Recorder::Stream final : public StreamWatcher {
 public:
  Stream(Hall& hall, Hall::Place& place) : hall_(hall), place_(place) {}

  void opens(int makers, int ahead) override {
    place_.batches.open(makers, ahead);
    const std::lock_guard guard(hall_.lock);
    place_.workers.resize(1 + std::size_t(makers));
  }
  void begins(int maker) override {
    std::unique_lock guard(hall_.lock);
    hall_.take_turn(guard, place_.worker(maker));
  }
  /// Whoever stands for its end goes on.
  void ends(int maker) override {
    stirs();
    hall_.leave(place_.worker(maker));
  }
  void makes(int maker, std::int64_t step) override { place_.batches.makes(maker, step); }
  void made(int maker) override { place_.batches.made(maker); }
  void takes() override {
    place_.notes.take_batch();
    place_.notes.go_on();
  }
  void stands(int maker) override {
    notes(maker).pause();
    const std::lock_guard guard(hall_.lock);
    place_.worker(maker).stands_for_others = true;
    hall_.give_turn(place_.worker(maker));
    hall_.look_for_standstill();
  }
  void stirs() override {
    const std::lock_guard guard(hall_.lock);
    for (Hall::Worker& each : place_.workers) each.stands_for_others = false;
  }
  void goes_on(int maker) override {
    {
      std::unique_lock guard(hall_.lock);
      place_.worker(maker).stands_for_others = false;
      hall_.take_turn(guard, place_.worker(maker));
    }
    notes(maker).resume();
  }

 private:
  RankNotes& notes(int maker) { return maker == kTrains ? place_.notes : place_.batches.of(maker); }

  Hall& hall_;
  Hall::Place& place_;
};

class Recorder::Engine final : public ProgressEngine {
 public:
  Engine(Hall& hall, Hall::Place& place) : hall_(hall), place_(place), stream_(hall, place) {}

  Transport& transport() override { return *place_.transport; }
  StreamWatcher* stream_watcher() override { return &stream_; }

  void enqueue(std::shared_ptr<Operation> operation) override {
    RankNotes& noted = notes(operation->lane);
    noted.start(*operation);
    {
      const std::lock_guard guard(hall_.lock);
      place_.slots->enqueue(std::move(operation));
      if (hall_.broken.empty())
        hall_.advance();
      else
        hall_.fail_all(hall_.broken);
    }
    noted.go_on();
  }

  void wait(Operation& operation) override {
    RankNotes& noted = notes(operation.lane);
    noted.wait(operation);
    const auto finished = [&] { return operation.finished.load(std::memory_order_acquire); };
    if (!finished()) {
      Hall::Worker& worker = place_.worker(thread_of(operation.lane));
      std::unique_lock guard(hall_.lock);
      worker.awaited = &operation;
      hall_.give_turn(worker);
      if (!finished()) hall_.look_for_standstill();
      worker.came.wait(guard, finished);
      worker.awaited = nullptr;
      hall_.take_turn(guard, worker);
    }
    noted.go_on();
  }

  void abandon() override {
    const std::lock_guard guard(hall_.lock);
    hall_.fail_all("another rank has given up");
  }
  double cpu_seconds() const override { return 0; }
  double busy_seconds() const override { return 0; }

 private:
  /// Prefetch is the thread's that makes batches, where there is one: where ranks exchange rows there aren't two (BatchStream).
  int thread_of(Lane lane) const {
    return lane == Lane::kPrefetch && place_.workers.size() > 1 ? 0 : StreamWatcher::kTrains;
  }
  RankNotes& notes(Lane lane) {
    const int maker = thread_of(lane);
    return maker == StreamWatcher::kTrains ? place_.notes : place_.batches.of(maker);
  }

  Hall& hall_;
  Hall::Place& place_;
  Stream stream_;
};

Recorder::Recorder(const std::vector<std::string>& hosts, int at_once, bool alone)
    : hall_(std::make_unique<Hall>()) {
  auto transports = make_local_group(int(hosts.size()), hosts);
  hall_->alone = alone;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    auto& transport = transports[r];
    auto slots = std::make_unique<LaneSlots>(*transport, *hall_);
    hall_->places.emplace_back(std::move(transport), std::move(slots), alone);
  }
  for (int turn = at_once - 1; turn >= 0; --turn) hall_->free_turns.push_back(turn);
}
Recorder::~Recorder() = default;

std::unique_ptr<ProgressEngine> Recorder::engine(Rank rank) {
  return std::make_unique<Engine>(*hall_, hall_->places[std::size_t(rank)]);
}

Recorder::Turn::Turn(Recorder& recorder, Rank rank) : recorder_(recorder), rank_(rank) {
  std::unique_lock guard(recorder_.hall_->lock);
  recorder_.hall_->take_turn(guard,
                             recorder_.hall_->places[std::size_t(rank)].worker(StreamWatcher::kTrains));
}

Recorder::Turn::~Turn() {
  recorder_.hall_->leave(recorder_.hall_->places[std::size_t(rank_)].worker(StreamWatcher::kTrains));
}

void Recorder::give_up(Rank rank) {
  const std::lock_guard guard(hall_->lock);
  if (hall_->first_to_give_up < 0) hall_->first_to_give_up = rank;
  hall_->fail_all(fmt::format("rank {} has given up", rank));
}

Rank Recorder::first_to_give_up() const {
  const std::lock_guard guard(hall_->lock);
  return hall_->first_to_give_up;
}

RankNotes& Recorder::notes(Rank rank) {
  return hall_->places[std::size_t(rank)].notes;
}

RankRecording Recorder::take(Rank rank) {
  Hall::Place& place = hall_->places[std::size_t(rank)];
  RankRecording recording = place.notes.take();
  recording.batches = place.batches.take();
  return recording;
}

std::int64_t Recorder::turns() const {
  const std::lock_guard guard(hall_->lock);
  return hall_->turns;
}

}  // namespace atl
