#include "simulate/recorded_rank.h"

#include <sched.h>
#include <algorithm>
#include <array>
#include <cstddef>

#include "train/optimizer.h"

namespace atl {

RecordedRank::RecordedRank(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                           const RecordOptions& options, std::unique_ptr<ProgressEngine> engine)
    : job_(job),
      options_(options),
      pool_(options.threads),
      data_(job, dataset, prepared, rank, options.parts),
      comm_(std::move(engine), &trace_) {
  data_.count(comm_);
  data_.train.total = std::max(1.0, data_.train.total);  // a lone rank may have no training vertices
  trainer_ = std::make_unique<Trainer>(ctx_, comm_, job, data_);
}

std::vector<EpochLoss> RecordedRank::train(RankNotes& notes) {
  const TrainingSpec& t = job_.training;
  std::vector<EpochLoss> losses;
  for (Index epoch = 1; epoch <= options_.epochs; ++epoch) {
    notes.begin_epoch(epoch, trace_);
    trace_.begin_epoch(epoch);
    const double rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
    EpochLoss& loss = losses.emplace_back();
    for (std::int64_t step = 1; step <= trainer_->steps(); ++step) {
      // A step ends with a sum over all ranks (train/epoch_loop.h).
      std::array<double, 4> told{trainer_->train_step((epoch - 1) * trainer_->steps() + step, rate)};
      comm_.all_reduce(Traffic::kStatistics, std::span<double>(told));
      loss.sum += told[0], loss.vertices += trainer_->step_vertices();
    }
  }
  notes.stop();
  comm_.barrier();
  return losses;
}

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  return processors;
}

void stay_on_processor(int number, const std::vector<int>& allowed) {
  if (allowed.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(allowed[std::size_t(number) % allowed.size()], &set);
  sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace atl
