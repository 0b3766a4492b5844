// Measures how fast a job's mini-batches are drawn: seeds, neighbours, blocks; no features are fetched and nothing is trained.
#include <fmt/format.h>

#include <algorithm>

#include "comm/local_transport.h"
#include "job/strategies.h"
#include "bench/bench.h"
#include "tensor/stopwatch.h"
#include "plan/dry_run.h"
#include "strategies/schedule/job_sampling.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// How many arcs a batch holds of a row that has these.
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
    fail("bench batches: strategy.kind is '{}', which draws no batches (use minibatch)", job.strategy.kind);
  Communicator comm(std::move(make_local_group(1).front()));
  RankData data(job, dataset, prepared, 0);
  data.count(comm);
  const BatchGraph& graph = data.held_in_training().batches();
  const GraphNeeds needs =
      planned_model(job, {dataset.meta().features, FeatureForm::kDense, 0}, dataset.meta().classes).needs;
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
  return {.name = fmt::format("{} batches of {}", steps, dataset.meta().name),
          .seconds = seconds / epochs,
          .arcs = arcs / epochs};
}

}  // namespace atl
