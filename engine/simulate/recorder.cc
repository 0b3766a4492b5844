#include "simulate/recorder.h"

#include <utility>

#include "base/error.h"
#include "comm/transports.h"
#include "simulate/recorder_hall.h"

namespace atl {

// The part of the recorder to which a rank's threads report, and which lets them go on.

/// The watcher of a rank's threads. The threads that make batches and the one that explains have turns of
/// their own.
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
  /// Called when a thread ends: threads that wait for its end go on.
  void ends(int maker) override {
    stirs();
    hall_.leave(place_.worker(maker));
  }
  void opens_explainer() override {
    const std::lock_guard guard(hall_.lock);
    place_.explainer.is_here = true;
  }
  void begins_explanation(std::int64_t number) override {
    meet(kTrains, RecordedStep::Kind::kExplain, number);
  }
  void wants_explanation(std::int64_t number) override { meet(0, RecordedStep::Kind::kExplained, number); }
  void makes(int maker, std::int64_t number) override {
    maker == kExplains ? place_.explains.begin_batch() : place_.batches.makes(maker, number);
  }
  void made(int maker) override {
    if (maker != kExplains) return place_.batches.made(maker);
    place_.explains.stop();
    RankRecording noted = place_.explains.take();
    place_.explanations.push_back({std::move(noted.steps), std::move(noted.operations)});
  }
  void works_on(int unit) override { place_.notes.work_on(unit); }
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
    place_.explainer.stands_for_others = false;
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
  RankNotes& notes(int maker) {
    if (maker == kExplains) return place_.explains;
    return maker == kTrains ? place_.notes : place_.batches.of(maker);
  }
  void meet(int maker, RecordedStep::Kind kind, std::int64_t number) {
    notes(maker).meet_explanation(kind, number);
    notes(maker).go_on();
  }

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
  /// The thread that uses the lane. Prefetch belongs to the thread that makes batches, if there is one: where
  /// ranks exchange rows, at most one does (BatchStream).
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
  recording.explanations = std::move(place.explanations);
  return recording;
}

std::int64_t Recorder::turns() const {
  const std::lock_guard guard(hall_->lock);
  return hall_->turns;
}

}  // namespace atl
