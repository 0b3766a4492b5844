// Measures one whole epoch of a manifest against what its work takes at the machine's measured rates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "comm/local_transport.h"
#include "job/strategies.h"
#include "plan/bench/bench.h"
#include "plan/bench/stopwatch.h"
#include "plan/dry_batches.h"
#include "plan/epoch_work.h"
#include "train/telemetry/record.h"
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

}  // namespace

BenchRow bench_epoch(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const MachineRates& rates, int epochs) {
  OneRank rank(ctx, job, dataset, prepared);
  std::vector<double> losses, seconds;
  for (int epoch = 1; epoch <= epochs + 1; ++epoch) {
    const double start = seconds_now();
    losses.push_back(rank.trainer->train_epoch(epoch, job.training.optimizer.learning_rate));
    if (epoch > 1) seconds.push_back(seconds_now() - start);  // the first one claims memory
  }
  const double lowest = *std::min_element(losses.begin() + 1, losses.end());
  if (!(lowest < losses.front()) || !std::isfinite(losses.back()))
    fail("bench epoch: the loss went from {} to {}; use a job that learns: this one's times mean nothing",
         losses.front(), losses.back());
  const DatasetMeta& meta = dataset.meta();
  const bool inductive = job.training.setting == Setting::kInductive;
  EpochWork work;
  if (strategy_of(job).holds == Holds::kBatches) {
    work = dry_batches(job, dataset, *batch_source(job, prepared), ctx.pool->threads(), {}).front().work;
  } else {
    const RankShape shape =
        rank_shape(prepared, 0, inductive ? training_marks(dataset, job) : std::vector<std::uint8_t>());
    work = epoch_work(rank.trainer->model(), shape, job.training.recompute == Recompute::kLayer);
  }
  return {fmt::format("epoch, {} on {}", job.model.kind, meta.name), median(seconds),
          1.3 * seconds_of(work, rates),
          fmt::format("1.3 ({:.3g} Gflop / products + {:.3g} GB / gather + {:.3g} GB / triad)",
                      work.all_flops() / 1e9, work.all_gathered() / 1e9, work.all_streamed() / 1e9)};
}

}  // namespace atl
