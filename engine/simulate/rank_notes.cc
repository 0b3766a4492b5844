#include "simulate/rank_notes.h"

#include <time.h>

namespace atl {
namespace {

RecordedOperation recorded(const Operation& op) {
  RecordedOperation r{.lane = op.lane, .purpose = op.purpose, .sums = op.sums, .of_everyone = op.of_everyone};
  if (op.sums) {
    const SumShape& shape = op.all_reduce.shape();
    r.members.assign(shape.members.begin(), shape.members.end());
    r.place = shape.place, r.ranks = shape.ranks, r.count = shape.count, r.width = shape.width;
    return r;
  }
  for (const Message& m : op.sends) r.sends.push_back({m.peer, m.bytes});
  for (const Message& m : op.receives) r.receives.push_back({m.peer, m.bytes});
  return r;
}

}  // namespace

/// The present time in seconds: of the work that a dry run has counted, or of a clock. A thread that computes
/// alone is timed by its CPU time, which leaves out what else the machine does.
double RankNotes::now() const {
  if (counted_ != nullptr) return seconds_of(*counted_, *rates_);
  timespec time{};
  clock_gettime(alone_ ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void RankNotes::end_segment() {
  if (!is_on()) return;
  recording_.steps.push_back(step(RecordedStep::Kind::kCompute));
  recording_.steps.back().seconds = now() - since_;
}

RecordedStep RankNotes::step(RecordedStep::Kind kind, int operation) const {
  return {.kind = kind, .operation = operation, .label = label(), .unit = unit_};
}

WorkLabel RankNotes::label() const {
  return trace_ != nullptr ? trace_->label() : WorkLabel{.work = Work::kSampling};
}

void RankNotes::go_on() {
  since_ = now();
}

void RankNotes::begin_epoch(std::int64_t epoch, const Trace& trace) {
  end_segment();
  is_on_ = true, trace_ = &trace, epoch_ = epoch;
  recording_.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = epoch}});
  go_on();
}

void RankNotes::work_on(int unit) {
  if (unit == unit_) return;
  end_segment();
  unit_ = unit;
  go_on();
}

void RankNotes::begin_batch() {
  is_on_ = true;
  go_on();
}

void RankNotes::stop() {
  end_segment();
  is_on_ = false;
}

void RankNotes::take_batch() {
  end_segment();
  if (is_on()) recording_.steps.push_back(step(RecordedStep::Kind::kTake));
}

void RankNotes::meet_explanation(RecordedStep::Kind kind, std::int64_t number) {
  end_segment();
  if (is_on()) recording_.steps.push_back(step(kind, int(number)));
}

void RankNotes::start(const Operation& operation) {
  end_segment();
  if (!is_on()) return;
  const int number = int(recording_.operations.size());
  recording_.operations.push_back(recorded(operation));
  numbers_[&operation] = number;
  recording_.steps.push_back(step(RecordedStep::Kind::kStart, number));
}

/// Skips operations that were started before anything was noted.
void RankNotes::wait(const Operation& operation) {
  end_segment();
  if (const auto found = numbers_.find(&operation); is_on() && found != numbers_.end())
    recording_.steps.push_back(step(RecordedStep::Kind::kWait, found->second));
}

}  // namespace atl
