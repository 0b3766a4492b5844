#include "train/epoch_loop.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "strategies/pipegcn/figures.h"
#include "strategies/schedule/strategy.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/run_state.h"
#include "train/not_learning.h"
#include "train/optimizer.h"

namespace atl {

Outcome EpochLoop::run() {
  const TrainingSpec& t = job_.training;
  without_input_ = loss_without_input(p_.comm, job_, p_.data);
  Outcome outcome = p_.best.patience_over(at_.epochs) ? Outcome::kStoppedEarly : Outcome::kCompleted;
  while (at_.epochs < t.epochs && outcome == Outcome::kCompleted) {
    const bool stop = run_epoch();
    if (stop && at_.epochs < t.epochs)
      outcome = Outcome::kInterrupted;
    else if (p_.best.patience_over(at_.epochs))
      outcome = Outcome::kStoppedEarly;
    const bool due = t.checkpoint.every > 0 && at_.epochs % t.checkpoint.every == 0;
    if (due || at_.epochs == t.epochs || outcome != Outcome::kCompleted) checkpoint();
  }
  return outcome;
}

/// Runs to the epoch's end. If some rank is asked to stop, it runs only to the end of that step, and returns
/// true. The checkpoint then doesn't wait for an evaluation that is due, which may take much longer than a
/// step of batches. The resumed run begins with that evaluation.
bool EpochLoop::run_epoch() {
  const TrainingSpec& t = job_.training;
  EpochRecord e;
  e.epoch = at_.epochs + 1;
  e.learning_rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, e.epoch, t.epochs);
  p_.meter.begin_epoch();
  if (at_.steps == p_.trainer.steps()) {
    p_.meter.end_step();
    end_epoch(e);
    is_first_ = true;  // nothing was trained
    return false;
  }
  for (;;) {
    const bool stop = run_step(e.learning_rate);
    if (at_.steps == p_.trainer.steps()) {
      if (stop && at_.steps > 1 && is_evaluated(e.epoch)) return true;
      end_epoch(e);
      return stop;
    }
    p_.options.observer->on_step({e.epoch, at_.steps, p_.trainer.steps(), p_.epoch.loss / p_.epoch.vertices});
    if (stop) return true;
    if (t.checkpoint.every_steps > 0 && at_.steps % t.checkpoint.every_steps == 0) checkpoint();
  }
}

/// Whether an evaluation follows the epoch.
bool EpochLoop::is_evaluated(Index epoch) const {
  const TrainingSpec& t = job_.training;
  const bool due = t.evaluate_every > 0 && epoch % t.evaluate_every == 0;
  return due || (epoch == t.epochs && p_.best.epoch() == 0);
}

/// Returns whether some rank was asked to stop.
bool EpochLoop::run_step(double learning_rate) {
  ++at_.steps;
  const double mine = p_.trainer.train_step(at_.epochs * p_.trainer.steps() + at_.steps, learning_rate);
  p_.meter.end_step();
  const auto [loss, stop] = sum_over_ranks(mine);
  check_finite(loss);
  return stop;
}

/// Sums up, evaluates and reports.
void EpochLoop::end_epoch(EpochRecord& e) {
  p_.meter.end_sums();
  // An epoch of drawn subgraphs has about as many training vertices as the graph, but not each exactly once.
  const bool batches = strategy_of(job_).holds == Holds::kBatches && p_.epoch.vertices > 0;
  e.loss = p_.epoch.loss / (batches ? p_.epoch.vertices : p_.data.train.total);
  e.bytes = {p_.epoch.bytes_intra, p_.epoch.bytes_inter};
  e.epoch_seconds = before_.seconds + p_.meter.training_seconds();
  e.staleness = staleness_over_ranks();
  at_ = {e.epoch, 0};
  p_.epoch = before_ = {};

  if (is_evaluated(e.epoch)) evaluate_into(e);
  e.own = p_.meter.end_epoch(p_.trainer.figures<BatchCounts>());
  p_.record.epochs.push_back(e);
  p_.options.observer->on_epoch(e);
  report_growth(e);
  warn_if_not_learning();
}

/// Warns once; not_learning() is empty in later epochs.
void EpochLoop::warn_if_not_learning() {
  if (p_.comm.rank() != 0) return;
  const std::string warning = not_learning(job_, p_.record.epochs, without_input_);
  if (!warning.empty()) p_.options.observer->on_message(MessageLevel::kWarning, warning);
}

/// In the first epoch of a start, memory grows anyway. Later it grows only for a batch larger than all
/// before.
void EpochLoop::report_growth(const EpochRecord& e) {
  const Index reallocations = e.own.batches ? e.own.batches->reallocations : 0;
  if (std::exchange(is_first_, false) || reallocations == 0 || p_.comm.rank() != 0) return;
  p_.options.observer->on_message(
      MessageLevel::kInfo,
      fmt::format("epoch {}: memory of rank 0 grew in {}, whose batch{} larger than all before", e.epoch,
                  counted_text(reallocations, "step"), reallocations == 1 ? " was" : "es were"));
}

/// Returns the step's loss over all ranks, and whether one of them was asked to stop.
std::pair<double, bool> EpochLoop::sum_over_ranks(double loss) {
  const bool asked = p_.options.stop != nullptr && p_.options.stop->load();
  std::array<double, 4> sums{loss, double(p_.meter.bytes_sent(Link::kIntra)),
                             double(p_.meter.bytes_sent(Link::kInter)), asked ? 1.0 : 0.0};
  p_.comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
  p_.epoch.loss += sums[0];
  p_.epoch.vertices += p_.trainer.step_vertices();
  p_.epoch.bytes_intra = before_.bytes_intra + std::int64_t(sums[1]);
  p_.epoch.bytes_inter = before_.bytes_inter + std::int64_t(sums[2]);
  return {sums[0], sums[3] > 0};
}

void EpochLoop::check_finite(double loss) {
  if (std::isfinite(loss) && p_.trainer.finite()) return;
  const Index epoch = at_.epochs + 1;
  p_.trainer.explain_non_finite({.text = p_.trainer.steps() == 1
                                             ? fmt::format("epoch {}", epoch)
                                             : fmt::format("epoch {}, step {}", epoch, at_.steps),
                                 .last_checkpoint = last_checkpoint_,
                                 .untrained = at_ == Reached{0, 1}});
}

std::vector<Staleness> EpochLoop::staleness_over_ranks() {
  const EpochStaleness mine = p_.trainer.figures<EpochStaleness>().value_or(EpochStaleness());
  std::vector<double> sums;
  for (const LayerStaleness& layer : mine)
    sums.insert(sums.end(), {layer.row_errors, layer.rows, layer.gradient_errors, layer.gradients});
  if (!sums.empty()) p_.comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
  const auto relative = [&](std::size_t i) { return sums[i + 1] > 0 ? std::sqrt(sums[i] / sums[i + 1]) : 0; };
  std::vector<Staleness> all;
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
  p_.best.consider(e.epoch, evaluation, p_.trainer.parameters(), p_.trainer.stream());
}

void EpochLoop::checkpoint() {
  p_.epoch.seconds = at_.steps > 0 ? before_.seconds + p_.meter.seconds_so_far() : 0;
  p_.epoch.steps = p_.trainer.steps();
  p_.meter.begin_checkpoint();
  p_.comm.barrier();
  WholeTensors tensors(p_.comm, p_.trainer.parameters());
  const CheckpointState state = state_of({p_.trainer.parameters(), p_.trainer.optimizer(), p_.best, p_.epoch},
                                         job_, p_.dataset, p_.comm.size(), at_, tensors);
  const auto part_seals = write_part_states(p_.comm, p_.store, at_, p_.parts, p_.trainer.state());
  p_.options.observer->before_checkpoint();
  if (p_.comm.rank() == 0) {
    p_.store.commit(state, part_seals);
    if (last_checkpoint_ == Reached{}) drop_run_before(p_.options.output);
  }
  p_.comm.barrier();
  last_checkpoint_ = at_;
  p_.options.observer->on_checkpoint(at_);
  p_.meter.end_checkpoint();
}

}  // namespace atl
