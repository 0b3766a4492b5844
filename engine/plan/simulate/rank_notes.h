// What a thread of a rank does, noted while it does it: segments of computing, with the processor time that they took, between the
// operations that it starts and waits for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "comm/operation.h"
#include "plan/simulate/recording.h"

namespace atl {

/// All calls from that thread.
class RankNotes {
 public:
  /// `alone`: it computes by itself, and its processor time is noted; otherwise with other threads, and time is noted as it passes.
  explicit RankNotes(bool alone) : alone_(alone) {}

  /// From here on, steps are noted, in this epoch. `trace`: of the rank's communicator, asked for what it is at.
  void begin_epoch(std::int64_t epoch, const Trace& trace);
  /// No further step is noted.
  void stop();
  bool is_on() const { return trace_ != nullptr; }
  std::int64_t epoch() const { return epoch_; }  // 0: before the first

  /// The present segment ends where an operation is started, or waited for; the next one begins once whoever records is through with it.
  void start(const Operation& operation);
  void wait(const Operation& operation);
  void go_on();

  /// Once it has stopped.
  RankRecording take() { return std::move(recording_); }

 private:
  double now() const;
  void end_segment();

  bool alone_;
  const Trace* trace_ = nullptr;  // null: nothing is noted
  std::int64_t epoch_ = 0;
  double since_ = 0;  // when the present segment began
  std::unordered_map<const Operation*, int> numbers_;
  RankRecording recording_;
};

}  // namespace atl
