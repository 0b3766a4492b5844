// Notes of what a thread of a rank does, taken while it runs: segments of computing with their CPU time,
// between the operations that it starts and waits for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "comm/operation.h"
#include "simulate/recording.h"

namespace atl {

/// All calls come from that thread.
class RankNotes {
 public:
  /// `alone`: the thread computes by itself, and its CPU time is noted; otherwise several threads compute,
  /// and wall-clock time is noted.
  explicit RankNotes(bool alone) : alone_(alone) {}
  /// For a dry run: a segment takes as long as its counted kernels would at these rates. Both arguments
  /// outlive the notes.
  RankNotes(const ComputeWork& counted, const MachineRates& rates) : counted_(&counted), rates_(&rates) {}

  /// Notes the steps of this epoch from here on. `trace` belongs to the rank's communicator, and says what
  /// the thread is working on.
  void begin_epoch(std::int64_t epoch, const Trace& trace);
  /// Notes the steps of a batch from here on, for a thread that makes batches.
  void begin_batch();
  /// Ends the present segment; the next ones belong to `unit`. For the thread that trains.
  void work_on(int unit);
  /// Notes no further step.
  void stop();
  bool is_on() const { return is_on_; }
  std::int64_t epoch() const { return epoch_; }  // 0: before the first

  /// Starting or waiting for an operation ends the present segment. go_on() begins the next one, once the
  /// recorder has finished with the operation.
  void start(const Operation& operation);
  void wait(const Operation& operation);
  /// Ends the present segment, and notes that the next batch is taken.
  void take_batch();
  /// Ends the present segment, and notes that an explanation may begin (kExplain) or is waited for
  /// (kExplained).
  void meet_explanation(RecordedStep::Kind kind, std::int64_t number);
  void go_on();
  /// Interrupts the present segment while the thread waits for another thread of its rank.
  void pause() { held_ = now() - since_; }
  void resume() { since_ = now() - held_; }

  /// Returns the notes; call after stop().
  RankRecording take() {
    numbers_.clear();
    return std::exchange(recording_, {});
  }

 private:
  double now() const;
  WorkLabel label() const;
  void end_segment();
  RecordedStep step(RecordedStep::Kind kind, int operation = -1) const;

  bool alone_ = true;
  const ComputeWork* counted_ = nullptr;  // null: time is measured
  const MachineRates* rates_ = nullptr;
  bool is_on_ = false;
  const Trace* trace_ = nullptr;  // null: the thread makes batches
  std::int64_t epoch_ = 0;
  int unit_ = -1;
  double held_ = 0;
  double since_ = 0;  // when the present segment began
  std::unordered_map<const Operation*, int> numbers_;
  RankRecording recording_;
};

}  // namespace atl
