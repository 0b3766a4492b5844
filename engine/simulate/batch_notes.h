// What the threads of a rank do that make mini-batches, noted batch by batch.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "simulate/rank_notes.h"

namespace atl {

/// Calls about a maker come from that maker's thread; open() and take() while none runs.
class BatchNotes {
 public:
  /// As RankNotes.
  explicit BatchNotes(bool alone) : alone_(alone) {}

  void open(int makers, int ahead);
  RankNotes& of(int maker) { return makers_[std::size_t(maker)].notes; }
  void makes(int maker, std::int64_t step);
  void made(int maker);
  RecordedBatches take();

 private:
  struct Maker {
    RankNotes notes;
    std::int64_t step = 0;  // whose batch it makes
  };
  bool alone_;
  int ahead_ = 0;
  std::deque<Maker> makers_;
  std::mutex lock_;                                // guards what follows
  std::map<std::int64_t, RecordedBatch> batches_;  // by step
};

}  // namespace atl
