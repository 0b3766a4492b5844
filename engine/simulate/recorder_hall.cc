#include "simulate/recorder_hall.h"

#include <utility>

namespace atl {

void BatchNotes::open(int makers, int ahead) {
  ahead_ = ahead;
  makers_.clear();
  for (int maker = 0; maker < makers; ++maker) makers_.push_back({RankNotes(alone_)});
}

void BatchNotes::makes(int maker, std::int64_t step) {
  makers_[std::size_t(maker)].step = step;
  of(maker).begin_batch();
}

void BatchNotes::made(int maker) {
  of(maker).stop();
  RankRecording noted = of(maker).take();
  const std::lock_guard guard(lock_);
  batches_[makers_[std::size_t(maker)].step] = {std::move(noted.steps), std::move(noted.operations)};
}

RecordedBatches BatchNotes::take() {
  RecordedBatches all{.makers = int(makers_.size()), .ahead = ahead_, .all = {}};
  for (auto& [step, batch] : batches_) all.all.push_back(std::move(batch));
  batches_.clear();
  return all;
}

}  // namespace atl
