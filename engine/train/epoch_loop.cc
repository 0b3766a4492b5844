#include "train/epoch_loop.h"

#include <array>
#include <cmath>

#include "train/checkpoint/part_states.h"
#include "train/checkpoint/run_state.h"
#include "train/checkpoint/start_over.h"
#include "train/learning_rate.h"

namespace atl {

Outcome EpochLoop::run() {
  const TrainingSpec& t = job_.training;
  Index epoch = p_.record.resumed_from;
  Outcome outcome = p_.best.patience_over(epoch) ? Outcome::kStoppedEarly : Outcome::kCompleted;
  while (epoch < t.epochs && outcome == Outcome::kCompleted) {
    ++epoch;
    const bool stop = run_epoch(epoch);
    if (stop && epoch < t.epochs)
      outcome = Outcome::kInterrupted;
    else if (p_.best.patience_over(epoch))
      outcome = Outcome::kStoppedEarly;
    const bool due = t.checkpoint.every > 0 && epoch % t.checkpoint.every == 0;
    if (due || epoch == t.epochs || outcome != Outcome::kCompleted) checkpoint(epoch);
  }
  return outcome;
}

/// Trains, sums up, evaluates and tells. Returns whether some rank was asked to stop.
bool EpochLoop::run_epoch(Index epoch) {
  const TrainingSpec& t = job_.training;
  EpochRecord e;
  e.epoch = epoch;
  e.learning_rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
  p_.meter.begin_epoch();
  const double my_loss = p_.trainer.train_epoch(epoch, e.learning_rate);
  p_.meter.end_training();
  const bool stop = sum_over_ranks(my_loss, e);
  p_.meter.end_sums();
  e.epoch_seconds = p_.meter.training_seconds();
  e.lateness = lateness_over_ranks();
  if (!std::isfinite(e.loss) || !p_.trainer.finite()) p_.trainer.explain_non_finite(epoch, last_checkpoint_);

  const bool due = t.evaluate_every > 0 && epoch % t.evaluate_every == 0;
  if (due || (epoch == t.epochs && p_.best.epoch() == 0)) evaluate_into(e);
  e.own = p_.meter.end_epoch();
  p_.record.epochs.push_back(e);
  p_.options.observer->on_epoch(e);
  return stop;
}

bool EpochLoop::sum_over_ranks(double loss, EpochRecord& e) {
  const bool asked = p_.options.stop != nullptr && p_.options.stop->load();
  std::array<double, 4> sums{loss, double(p_.meter.bytes_sent(Link::kIntra)),
                             double(p_.meter.bytes_sent(Link::kInter)), asked ? 1.0 : 0.0};
  p_.comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
  e.loss = sums[0] / p_.data.train.total;
  e.bytes_intra = std::int64_t(sums[1]);
  e.bytes_inter = std::int64_t(sums[2]);
  return sums[3] > 0;
}

std::vector<Lateness> EpochLoop::lateness_over_ranks() {
  const std::vector<LayerLateness> mine = p_.trainer.lateness();
  std::vector<double> sums;
  for (const LayerLateness& layer : mine)
    sums.insert(sums.end(), {layer.row_errors, layer.rows, layer.gradient_errors, layer.gradients});
  if (!sums.empty()) p_.comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
  const auto relative = [&](std::size_t i) { return sums[i + 1] > 0 ? std::sqrt(sums[i] / sums[i + 1]) : 0; };
  std::vector<Lateness> all;
  for (std::size_t i = 0; i < mine.size(); ++i)
    all.push_back({mine[i].layer, relative(4 * i), relative(4 * i + 2)});
  return all;
}

void EpochLoop::evaluate_into(EpochRecord& e) {
  const Evaluation evaluation = p_.trainer.evaluate();
  e.train = evaluation.train;
  e.validation = evaluation.validation;
  e.test = evaluation.test;
  e.validation_loss = evaluation.validation_loss;
  p_.best.consider(e.epoch, evaluation, p_.trainer.parameters());
}

void EpochLoop::checkpoint(Index epoch) {
  const double start = steady_seconds();
  p_.comm.barrier();
  WholeTensors tensors(p_.comm, p_.trainer.parameters());
  const CheckpointState state = state_of({p_.trainer.parameters(), p_.trainer.optimizer(), p_.best}, job_,
                                         p_.dataset, p_.comm.size(), epoch, tensors);
  const auto part_seals = write_part_states(p_.comm, p_.store, epoch, p_.parts, p_.trainer.state());
  if (p_.comm.rank() == 0) {
    p_.store.commit(state, part_seals);
    drop_set_aside(p_.options.output);
  }
  p_.comm.barrier();
  last_checkpoint_ = epoch;
  p_.options.observer->on_checkpoint(epoch);
  p_.meter.add_checkpoint(steady_seconds() - start);
}

}  // namespace atl
