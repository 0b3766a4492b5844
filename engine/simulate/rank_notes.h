// What a thread of a rank does, noted while it does it: segments of computing, with the processor time that
// they took, between the operations that it starts and waits for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "comm/operation.h"
#include "simulate/recording.h"

namespace atl {

/// All calls from that thread.
class RankNotes {
 public:
  /// `alone`: it computes by itself, and its processor time is noted; otherwise with other threads, and time
  /// is noted as it passes.
  explicit RankNotes(bool alone) : alone_(alone) {}
  /// Of a dry run: a segment takes what the kernels that it counts would take at these rates. Both outlive
  /// it.
  RankNotes(const ComputeWork& counted, const MachineRates& rates) : counted_(&counted), rates_(&rates) {}

  /// From here on, steps are noted, in this epoch. `trace`: of the rank's communicator, asked for what it is
  /// at.
  void begin_epoch(std::int64_t epoch, const Trace& trace);
  /// Likewise, of a thread that makes batches.
  void begin_batch();
  /// The present segment ends here, and the next ones are of this unit; of the thread that trains.
  void work_on(int unit);
  /// No further step is noted.
  void stop();
  bool is_on() const { return is_on_; }
  std::int64_t epoch() const { return epoch_; }  // 0: before the first

  /// The present segment ends where an operation is started, or waited for; the next one begins once whoever
  /// records is through with it.
  void start(const Operation& operation);
  void wait(const Operation& operation);
  /// Likewise, where the next batch is taken.
  void take_batch();
  /// Likewise, where an explanation may begin, or is waited for: kExplain, kExplained.
  void meet_explanation(RecordedStep::Kind kind, std::int64_t number);
  void go_on();
  /// The present segment is held up in between: the thread stands for another one of its rank.
  void pause() { held_ = now() - since_; }
  void resume() { since_ = now() - held_; }

  /// What has been noted, once it has stopped.
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
  const Trace* trace_ = nullptr;  // null: it makes batches
  std::int64_t epoch_ = 0;
  int unit_ = -1;
  double held_ = 0;
  double since_ = 0;  // when the present segment began
  std::unordered_map<const Operation*, int> numbers_;
  RankRecording recording_;
};

}  // namespace atl
