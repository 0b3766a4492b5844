// Measures one whole epoch of a manifest. Its limit is the time that its work takes at the measured rates of
// the machine, or of its GPU.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/bench.h"
#include "comm/transports.h"
#include "job/strategies.h"
#include "plan/dry_batches.h"
#include "plan/dry_run.h"
#include "plan/rank_shape.h"
#include "strategies/schedule/rows.h"
#include "telemetry/record.h"
#include "tensor/rates.h"
#include "train/rank_data.h"
#include "train/trainer.h"

namespace atl {
namespace {

/// The job's one rank, set up as a session does it.
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

/// The losses and seconds of a training, by epoch. A loss is complete once the device has done all of its
/// epoch.
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

/// The relative difference allowed between the losses of two devices. Rounding differences grow from step to
/// step, and an epoch of mini-batches has many steps; halves are coarse from the beginning.
double nearness(const Job& job) {
  const bool batches = strategy_of(job).holds == Holds::kBatches,
             halves = job.training.precision == Precision::kBFloat16;
  return batches && halves ? 0.1 : batches || halves ? 0.01 : 1e-4;
}

/// Compares a GPU's losses with the CPU's. The second loss also depends on a backward pass and an update.
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
  const RankShape shape = rank_shape(prepared, 0, inductive ? training_marks(dataset, job) : VertexMarks());
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

// Measures how fast a job's mini-batches are drawn: seeds, neighbours, blocks. No features are fetched and
// nothing is trained.

namespace {

/// How many arcs of `row` a batch holds, if `sources` are all of the row's sources.
Index expected_arcs(std::span<const VertexId> sources, VertexId row, int fanout, bool replace) {
  const Index loops = std::ranges::count(sources, row), others = Index(sources.size()) - loops;
  if (fanout == kAllNeighbours || others == 0) return loops + others;
  return loops + (replace ? fanout : std::min<Index>(others, fanout));
}

void check(const Batch& batch, const CsrView& graph, const BatchSamplingOptions& options) {
  for (int layer = 0; layer < batch.layers(); ++layer) {
    const CsrView arcs = batch.block(layer).arcs;
    for (Index i = 0; i < arcs.rows; ++i) {
      const VertexId row = batch.rows()[std::size_t(i)];
      const Index begin = graph.offsets[row], end = graph.offsets[row + 1];
      const Index expected =
          expected_arcs({graph.columns + begin, graph.columns + end}, row,
                        options.sampling.fanout[std::size_t(layer)], options.sampling.replace);
      const Index drawn = arcs.offsets[i + 1] - arcs.offsets[i];
      const bool right = options.sets == nullptr ? drawn == expected : drawn <= expected;
      if (!right)
        fail("bench batches: layer {} of step {} draws {} arcs of row {}, not {}", layer, batch.step, drawn,
             row, expected);
    }
  }
}

}  // namespace

BenchRow bench_batches(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads,
                       int epochs) {
  if (strategy_of(job).holds != Holds::kBatches)
    fail("bench batches: strategy.kind is '{}', which draws no batches (use minibatch, p3 or dgs)",
         job.strategy.row->kind);
  Communicator comm(std::move(make_local_group(1).front()));
  RankData data(job, dataset, prepared, 0);
  data.count(comm);
  const BatchGraph& graph = data.held_in_training().batches();
  const GraphNeeds needs =
      planned_model(job, feature_shape(job, dataset.meta()), dataset.meta().classes).needs;
  BatchSamplingOptions options = job_sampling(job, dataset.meta().vertices);
  options.sampling.normalisation = needs.normalisation;
  options.sampling.attention = needs.attention;
  options.threads = threads;
  const auto samplings = batch_samplings(graph, comm, options, threads);
  const std::int64_t steps = samplings.front()->seeds().steps();
  BatchStream stream(makers_of(samplings, nullptr), {.end = (epochs + 1) * steps, .ahead = threads});
  for (std::int64_t step = 0; step < steps; ++step)  // the first epoch claims memory
    check(stream.next()->batch, graph.training.whole, options);
  const double begin = seconds_now(), arcs_before = double(stream.figures().arcs);
  while (stream.next() != nullptr) continue;
  const double seconds = seconds_now() - begin, arcs = double(stream.figures().arcs) - arcs_before;
  return {.name = fmt::format("{} {} of {}", steps, steps == 1 ? "batch" : "batches", dataset.meta().name),
          .seconds = seconds / epochs,
          .arcs = arcs / epochs};
}

}  // namespace atl
