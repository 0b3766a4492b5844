#include "plan/simulate/recorded_rank.h"

#include <algorithm>
#include <array>

#include "train/learning_rate.h"

namespace atl {

RecordedRank::RecordedRank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                           const RecordOptions& options, std::unique_ptr<ProgressEngine> engine)
    : job_(job),
      options_(options),
      pool_(options.threads),
      data_(job, dataset, prepared, rank, options.parts),
      comm_(std::move(engine), &trace_) {
  data_.count(comm_);
  data_.train.total = std::max(1.0, data_.train.total);  // a rank by itself may have none
  trainer_ = std::make_unique<Trainer>(ctx_, comm_, job, data_);
}

std::vector<double> RecordedRank::train(RankNotes& notes) {
  const TrainingSpec& t = job_.training;
  std::vector<double> losses;
  for (Index epoch = 1; epoch <= options_.epochs; ++epoch) {
    notes.begin_epoch(epoch, trace_);
    trace_.begin_epoch(epoch);
    const double rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
    losses.push_back(trainer_->train_epoch(epoch, rate));
    std::array<double, 4> told{};  // an epoch ends with a sum over all ranks (train/epoch_loop.h)
    comm_.all_reduce(Traffic::kStatistics, std::span<double>(told));
  }
  notes.stop();
  comm_.barrier();
  return losses;
}

}  // namespace atl
