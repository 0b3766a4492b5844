// Strategy `sancus`: CAGNET's blocks, left out while they have hardly changed; inference with all of them.
#include "exchange/sancus.h"
#include "exchange/cagnet/cagnet.h"
#include "job/strategies/cagnet_grid.h"
#include "strategy/kinds/kinds.h"

namespace atl {
namespace {

OwnerReads reads(const Job& job, Rank rank, int ranks) {
  const CagnetGrid grid = cagnet_grid(job.strategy.options, ranks);
  return {grid.row_ranks(rank), grid.sources(rank)};
}

std::unique_ptr<Schedule> exact_blocks(const ScheduleInput& in) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_cagnet_exchange(in.ctx, in.comm, in.holding.part(), std::move(layers), 1,
                                in.job.strategy.wire);
  });
}

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return exact_blocks(in);
  using Rule = SancusOptions::Rule;
  const SancusOptions chosen{options.text("rule") == "fixed" ? Rule::kFixed : Rule::kBounded,
                             options.integer("warmup"),
                             options.integer("every"),
                             options.number("threshold"),
                             options.integer("staleness"),
                             options.text("gradients") == "always",
                             in.job.strategy.wire};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_sancus_exchange(in.ctx, in.comm, in.holding.part(), layers, chosen);
  });
}

}  // namespace

Strategy sancus_row() {
  return {.kind = "sancus", .make = make, .exact_exchange = false, .reads = reads};
}

}  // namespace atl
