// Measures one whole epoch of a manifest against what its work takes at the measured rates of the machine, or of its GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "comm/local_transport.h"
#include "job/strategies.h"
#include "bench/bench.h"
#include "tensor/stopwatch.h"
#include "plan/dry_batches.h"
#include "plan/epoch_work.h"
#include "telemetry/record.h"
#include "train/trainer.h"

namespace atl {
namespace {

/// The job's one rank, as the session sets it up.
struct OneRank {
  OneRank(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared)
      : comm(std::move(make_local_group(1).front())), data(job, dataset, prepared, 0) {
    data.count(comm);
    trainer.emplace(ctx, comm, job, data);
  }
  Communicator comm;
  RankData data;
  std::optional<Trainer> trainer;
};

/// Of each epoch. A loss is there when the device has done all of its epoch.
struct Trained {
  std::vector<double> losses, seconds;
};

Trained train(OneRank& rank, const Job& job, int epochs) {
  Trained trained;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const double start = seconds_now();
    trained.losses.push_back(rank.trainer->train_epoch(epoch, job.training.optimizer.learning_rate));
    trained.seconds.push_back(seconds_now() - start);
  }
  return trained;
}

void check_learning(const std::vector<double>& losses) {
  const double lowest = *std::min_element(losses.begin() + 1, losses.end());
  if (!(lowest < losses.front()) || !std::isfinite(losses.back()))
    fail("bench epoch: the loss went from {} to {}; use a job that learns: this one's times mean nothing",
         losses.front(), losses.back());
}

/// The share by which losses of two devices may differ: what is rounded otherwise grows from step to step, of which an epoch of mini-batches
/// has many, and halves are coarse from the beginning.
double nearness(const Job& job) {
  const bool batches = strategy_of(job).holds == Holds::kBatches,
             halves = job.training.precision == Precision::kBFloat16;
  return batches && halves ? 0.1 : batches || halves ? 0.01 : 1e-4;
}

/// A GPU's losses beside the CPU's: the second one has seen the way back and an update, too.
void check_against_cpu(ThreadPool& pool, const Job& job, const Dataset& dataset,
                       const PreparedGraph& prepared, const std::vector<double>& losses) {
  constexpr int kEpochs = 2;
  Workspace workspace;
  Context host{Device::kCpu, &pool, &workspace};
  OneRank rank(host, job, dataset, prepared);
  const Trained cpu = train(rank, job, kEpochs);
  const double near = nearness(job);
  for (std::size_t e = 0; e < kEpochs; ++e)
    if (!(std::abs(losses[e] - cpu.losses[e]) <= near * std::abs(cpu.losses[e])))
      fail(
          "bench epoch: the loss of epoch {} is {} on the GPU and {} on the CPU; this build computes wrong results "
          "on this machine",
          e + 1, losses[e], cpu.losses[e]);
}

EpochWork work_of(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Model& model) {
  if (strategy_of(job).holds == Holds::kBatches)
    return dry_batches(job, dataset, *batch_source(job, prepared), ctx.pool->threads(), {}).front().work;
  const bool inductive = job.training.setting == Setting::kInductive;
  const RankShape shape =
      rank_shape(prepared, 0, inductive ? training_marks(dataset, job) : std::vector<std::uint8_t>());
  return epoch_work(model, shape, job.training.recompute == Recompute::kLayer);
}

}  // namespace

BenchRow bench_epoch(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const MachineRates& rates, int epochs) {
  OneRank rank(ctx, job, dataset, prepared);
  Trained trained = train(rank, job, epochs + 1);
  check_learning(trained.losses);
  if (ctx.device != Device::kCpu) check_against_cpu(*ctx.pool, job, dataset, prepared, trained.losses);
  trained.seconds.erase(trained.seconds.begin());  // the first one claims memory
  const EpochWork work = work_of(ctx, job, dataset, prepared, rank.trainer->model());
  return {fmt::format("epoch, {} on {}", job.model.kind, dataset.meta().name), median(trained.seconds),
          1.3 * seconds_of(work, rates),
          fmt::format("1.3 ({:.3g} Gflop / products + {:.3g} GB / gather + {:.3g} GB / triad)",
                      work.all_flops() / 1e9, work.all_gathered() / 1e9, work.all_streamed() / 1e9)};
}

}  // namespace atl
