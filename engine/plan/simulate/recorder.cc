#include "plan/simulate/recorder.h"

#include <condition_variable>
#include <exception>
#include <utility>

#include "base/error.h"
#include "comm/lane_slots.h"
#include "comm/local_transport.h"
#include "plan/simulate/processors.h"

namespace atl {

/// Where ranks meet. Messages are passed under its lock by whoever comes second.
struct Recorder::Hall : LaneSlots::Watcher {
  struct Place {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<LaneSlots> slots;
    // Its own: who waits on a core that computes must not be woken for others.
    std::unique_ptr<std::condition_variable> came = std::make_unique<std::condition_variable>();
    bool is_here = true;
    const Operation* awaited = nullptr;  // that its thread stands waiting for
    bool stands() const { return awaited != nullptr && !awaited->finished.load(std::memory_order_acquire); }
    int turn = -1;  // that it holds
    std::int64_t turns = 0;
    std::unique_ptr<RankNotes> notes;  // its thread's own
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
          if (place.slots->finish_arrived()) place.came->notify_all();
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
      place.came->notify_all();
    }
  }
  /// Called where a rank has begun to wait, or has left.
  void look_for_standstill() {
    bool any = false;
    for (const Place& place : places) {
      if (place.is_here && !place.stands()) return;
      any |= place.stands();
    }
    if (any) fail_all("all ranks wait for each other: they don't make the same calls in the same order");
  }

  void take_turn(std::unique_lock<std::mutex>& guard, Place& place) {
    turn_is_free.wait(guard, [this] { return !free_turns.empty(); });
    place.turn = free_turns.back();
    free_turns.pop_back();
    ++place.turns;
    if (alone) stay_on_processor(place.turn, processors);
  }
  void give_turn(Place& place) {
    free_turns.push_back(std::exchange(place.turn, -1));
    turn_is_free.notify_one();
  }

  std::vector<Place> places;  // by rank
  const std::vector<int> processors = allowed_processors();
  mutable std::mutex lock;  // guards places but their notes, and what follows
  std::condition_variable turn_is_free;
  Rank first_to_give_up = -1;
  std::vector<int> free_turns;
  bool alone = true;
  std::string broken;
};

class Recorder::Engine final : public ProgressEngine {
 public:
  Engine(Hall& hall, Hall::Place& place) : hall_(hall), place_(place) {}

  Transport& transport() override { return *place_.transport; }

  void enqueue(std::shared_ptr<Operation> operation) override {
    place_.notes->start(*operation);
    {
      const std::lock_guard guard(hall_.lock);
      place_.slots->enqueue(std::move(operation));
      if (hall_.broken.empty())
        hall_.advance();
      else
        hall_.fail_all(hall_.broken);
    }
    place_.notes->go_on();
  }

  void wait(Operation& operation) override {
    place_.notes->wait(operation);
    const auto finished = [&] { return operation.finished.load(std::memory_order_acquire); };
    if (!finished()) {
      std::unique_lock guard(hall_.lock);
      place_.awaited = &operation;
      hall_.give_turn(place_);
      if (!finished()) hall_.look_for_standstill();
      place_.came->wait(guard, finished);
      place_.awaited = nullptr;
      hall_.take_turn(guard, place_);
    }
    place_.notes->go_on();
  }

  void abandon() override {
    const std::lock_guard guard(hall_.lock);
    hall_.fail_all("another rank has given up");
  }
  double cpu_seconds() const override { return 0; }
  double busy_seconds() const override { return 0; }

 private:
  Hall& hall_;
  Hall::Place& place_;
};

Recorder::Recorder(const std::vector<std::string>& hosts, int at_once, bool alone)
    : hall_(std::make_unique<Hall>()) {
  auto transports = make_local_group(int(hosts.size()), hosts);
  hall_->places.resize(hosts.size());
  hall_->alone = alone;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    Hall::Place& place = hall_->places[r];
    place.notes = std::make_unique<RankNotes>(alone);
    place.transport = std::move(transports[r]);
    place.slots = std::make_unique<LaneSlots>(*place.transport, *hall_);
  }
  for (int turn = at_once - 1; turn >= 0; --turn) hall_->free_turns.push_back(turn);
}
Recorder::~Recorder() = default;

std::unique_ptr<ProgressEngine> Recorder::engine(Rank rank) {
  return std::make_unique<Engine>(*hall_, hall_->places[std::size_t(rank)]);
}

Recorder::Turn::Turn(Recorder& recorder, Rank rank) : recorder_(recorder), rank_(rank) {
  std::unique_lock guard(recorder_.hall_->lock);
  recorder_.hall_->take_turn(guard, recorder_.hall_->places[std::size_t(rank)]);
}

Recorder::Turn::~Turn() {
  Hall& hall = *recorder_.hall_;
  const std::lock_guard guard(hall.lock);
  Hall::Place& place = hall.places[std::size_t(rank_)];
  place.is_here = false;
  hall.give_turn(place);
  hall.look_for_standstill();
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
  return *hall_->places[std::size_t(rank)].notes;
}

std::int64_t Recorder::turns() const {
  const std::lock_guard guard(hall_->lock);
  std::int64_t turns = 0;
  for (const Hall::Place& place : hall_->places) turns += place.turns;
  return turns;
}

}  // namespace atl
