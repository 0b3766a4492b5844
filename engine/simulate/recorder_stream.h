// The recorder's own: what threads beside a rank's compute thread tell it, and when they go on.
#pragma once

#include "simulate/recorder_hall.h"

namespace atl {

/// Those of a rank that make batches, and the one that explains, have turns of their own.
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

}  // namespace atl
