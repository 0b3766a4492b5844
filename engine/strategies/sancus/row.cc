// Strategy `sancus`: CAGNET's blocks, left out while they have hardly changed; inference with all of them.
#include "strategies/sancus/sancus.h"
#include "strategies/schedule/rows.h"
#include "strategies/schedule/whole_blocks.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return all_blocks_full_batch(in);
  using Rule = SancusOptions::Rule;
  const SancusOptions chosen{options.text("rule") == "fixed" ? Rule::kFixed : Rule::kBounded,
                             options.integer("warmup"),
                             options.integer("every"),
                             options.number("threshold"),
                             options.integer("staleness"),
                             options.text("gradients") == "always",
                             in.job.wire()};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_sancus_exchange(in.ctx, in.comm, in.holding.part(), layers, chosen);
  });
}

}  // namespace

Strategy sancus_row() {
  return {.kind = "sancus", .make = make, .exact_exchange = false, .reads = block_reads};
}

}  // namespace atl
