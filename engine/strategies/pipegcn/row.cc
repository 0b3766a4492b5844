// Strategy `pipegcn`: rows and gradients one epoch late; inference exact.
#include "strategies/pipegcn/info.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return exact_full_batch(in, true);
  const Smoothing smoothing = pipegcn_smoothing(options);
  const double rate = options.number("boundaryRate");
  const bool is_late = options.integer("staleness") > 0 && rate == 1;
  const PipeGcnOptions chosen{int(options.integer("staleness")),
                              smoothing.rows,
                              smoothing.gradients,
                              options.number("decay"),
                              options.flag("biasCorrection"),
                              is_late ? in.job.training.evaluate_every : 0};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_pipegcn_exchange(in.ctx, in.comm, in.holding.part(), layers, chosen,
                                 rate < 1 ? sampled_boundary_rows(in, rate) : all_boundary_rows(in));
  });
}

}  // namespace

Strategy pipegcn_row() {
  return {.kind = "pipegcn", .make = make, .exact_exchange = false};
}

}  // namespace atl
