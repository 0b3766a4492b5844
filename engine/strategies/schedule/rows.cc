// Functions that several strategies' rows use.
#include "strategies/schedule/rows.h"

#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "sampler/kinds/kinds.h"
#include "sampler/own_rows.h"

namespace atl {

// Full batches over one exchange or another.

Passes passes_of(const ScheduleInput& in) {
  if (in.inference_only) return Passes::kInference;
  return in.job.training.recompute == Recompute::kLayer ? Passes::kRecomputing : Passes::kTraining;
}

namespace {

std::unique_ptr<Schedule> full_batch(const ScheduleInput& in, const FullBatchOptions& options,
                                     MakeExchange make_exchange) {
  return std::make_unique<FullBatch>(in.ctx, in.comm, in.model, in.parameters, in.holding.part(),
                                     in.all_vertices, options, make_exchange);
}

}  // namespace

std::unique_ptr<Schedule> full_batch_over(const ScheduleInput& in, MakeExchange make_exchange) {
  return full_batch(in, {in.job.training.seed, passes_of(in)}, make_exchange);
}

std::unique_ptr<Schedule> full_batch_of_parts(const ScheduleInput& in, int steps,
                                              const ExchangeOf& exchange_of) {
  return full_batch(
      in, {in.job.training.seed, passes_of(in), steps, exchange_of},
      [&](std::vector<ExchangedLayer> layers) { return exchange_of(in.holding.part(), std::move(layers)); });
}

std::unique_ptr<Schedule> exact_full_batch(const ScheduleInput& in, bool overlap,
                                           std::unique_ptr<BoundarySet> boundary_set) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_exact_exchange(in.ctx, in.comm, in.holding.part(), std::move(layers), overlap,
                               std::move(boundary_set));
  });
}

std::unique_ptr<BoundarySet> all_boundary_rows(const ScheduleInput& in) {
  const GraphPart& part = in.holding.part();
  return std::make_unique<WholeBoundarySet>(in.ctx, *part.graph, part.outer, in.job.wire());
}

std::unique_ptr<BoundarySet> sampled_boundary_rows(const ScheduleInput& in, double rate) {
  const GraphPart& part = in.holding.part();
  return make_sampled_boundary_set(in.ctx, *part.graph, part.outer,
                                   {rate, in.job.training.seed, in.model.needs.attention, in.job.wire()});
}

// The rows that parts of a prepared graph send each other.

std::vector<CutRows> cut_rows(const PreparedGraph& prepared, bool induced) {
  const auto offsets = prepared.part_offsets();
  std::vector<CutRows> cut;
  for (Rank to = 0; to < prepared.parts(); ++to) {
    Rank from = 0;
    for (const VertexId row : induced ? prepared.induced_halo(to) : prepared.halo(to)) {
      while (row >= offsets[std::size_t(from) + 1]) ++from;
      if (cut.empty() || cut.back().from != from || cut.back().to != to) cut.push_back({from, to, 0});
      ++cut.back().rows;
    }
  }
  return cut;
}

// How a job's batches are drawn, by the options of its strategy. Training, plans and benchmarks share it.

namespace {

SetOptions set_options(const Job& job, Index vertices) {
  const Options& options = job.strategy.options;
  SetOptions sets{.layer_sizes = {},
                  .draws = set_draws(job, vertices),
                  .walk_length = int(options.integer("walkLength")),
                  .merged = int(options.integer("merged")),
                  .coverage = int(options.integer("coverage"))};
  for (const std::int64_t size : layer_sizes(job)) sets.layer_sizes.push_back(size);
  return sets;
}

}  // namespace

BatchSamplingOptions job_sampling(const Job& job, Index vertices) {
  const Options& options = job.strategy.options;
  BatchSamplingOptions batches{.sampling = {.fanout = batch_fanout(job),
                                            .replace = options.flag("replace"),
                                            .seed = job.training.seed},
                               .sets = find_sets(sampler_of(job).name),
                               .batch_size = options.integer("batchSize"),
                               .mapped = options.text("structure") == "mapped" || !reads_neighbours(job)};
  if (batches.sets != nullptr) batches.set_options = set_options(job, vertices);
  return batches;
}

bool touches_few(const Job& job, Index vertices, Index features, double entries) {
  if (job.placement.ranks == 1 || reads_history(job)) return false;
  const BatchSamplingOptions batches = job_sampling(job, vertices);
  double rows = double(batches.batch_size);
  for (const int fanout : batches.sampling.fanout)
    rows = fanout < 0 ? double(vertices) : std::min(double(vertices), rows * double(1 + fanout));
  return std::min(rows, double(vertices)) * entries < double(features);
}

std::optional<HistoryOptions> job_history(const Job& job) {
  if (!reads_history(job)) return {};
  const Options& options = job.strategy.options;
  return HistoryOptions{.rows = options.integer("historyRows"),
                        .layers = gathering_layers(job.model) - 1,
                        .delay = options.integer("delay"),
                        .max_age = options.integer("maxAge")};
}

// How all strategies with batches make them.

BatchSamplingOptions batch_sampling(const ScheduleInput& in) {
  const BatchGraph& graph = in.holding.batches();
  BatchSamplingOptions batches = job_sampling(in.job, graph.owners.first_row(graph.owners.ranks()));
  batches.threads = in.side.count;
  batches.weighs = in.job.model.norm == Norm::kBatch && in.comm.size() > 1;
  batches.feature_rate = feature_rate(in.job, graph.features.cols());
  batches.negatives = in.job.links.negatives;
  batches.cpus = in.side.cpus;
  const Index vertices = graph.owners.first_row(graph.owners.ranks());
  batches.finds_touched =
      graph.sparse && !graph.columns && touches_few(in.job, vertices, graph.features.cols(), graph.entries);
  return batches;
}

std::vector<Real> filled_columns(const ScheduleInput& in) {
  if (feature_rate(in.job, in.holding.batches().features.cols()) == 1 ||
      in.job.strategy.options.text("fill") == "zero")
    return {};
  return mean_features(in.holding.batches(), in.comm.rank(), in.job.training.setting == Setting::kInductive);
}

}  // namespace atl
