// Full batches over one exchange or another.
#include "strategies/schedule/rows.h"

namespace atl {

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

std::unique_ptr<Schedule> full_batch_of_parts(const ScheduleInput& in, const ExchangeOf& exchange_of) {
  const int steps = strategy_of(in.job).server(in.job, in.comm.rank(), 1).batches;
  return full_batch(
      in, {in.job.training.seed, passes_of(in), steps, exchange_of},
      [&](std::vector<ExchangedLayer> layers) { return exchange_of(in.holding.part(), std::move(layers)); });
}

std::unique_ptr<Schedule> exact_full_batch(const ScheduleInput& in, bool overlap,
                                           std::unique_ptr<Crossing> crossing) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_exact_exchange(in.ctx, in.comm, in.holding.part(), std::move(layers), overlap,
                               std::move(crossing));
  });
}

std::unique_ptr<Crossing> all_boundary_rows(const ScheduleInput& in) {
  const GraphPart& part = in.holding.part();
  return std::make_unique<WholeCrossing>(in.ctx, *part.graph, part.outer, in.job.wire());
}

std::unique_ptr<Crossing> sampled_boundary_rows(const ScheduleInput& in, double rate) {
  const GraphPart& part = in.holding.part();
  return make_sampled_crossing(in.ctx, *part.graph, part.outer,
                               {rate, in.job.training.seed, in.model.needs.attention, in.job.wire()});
}

}  // namespace atl
