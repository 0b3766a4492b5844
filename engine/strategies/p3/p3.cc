// Strategy `p3`: ranks hold features by columns. Each computes the first layer in its columns for everybody's
// batch; the other layers are data parallel.
#include "strategies/p3/info.h"

#include "job/strategies/batch_options.h"
#include "strategies/p3/push_pull.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

void share_p3_data(const Job& job, Rank rank, DataShare& share) {
  share.columns = column_grid(job).group_of(rank);
}

/// A row of the first layer's weights is on the ranks that hold its feature's column, and is the same on all
/// of them.
void share_p3_model(const Job& job, const Model& model, Rank rank, ModelShare& share) {
  share.in_flight = pipeline_delay(job) + 1;
  share.places = [rank, grid = column_grid(job), split = SplitLayers(model).whole](
                     int layer, const ParameterSpec& spec) -> Placement {
    if (grid.pieces() == 1 || layer != split || spec.input_blocks == 0) return {};
    const ColumnShare here = column_share(spec.rows / spec.input_blocks, grid.group_of(rank), rank);
    return {rows_of_input(spec, here.first(), here.count()), grid.same_piece(rank)};
  };
}

std::unique_ptr<Schedule> make_p3(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  const BatchGraph& graph = in.holding.batches();
  const PushPullOptions chosen{.batches = batch_sampling(in),
                               .ahead = int(options.integer("prefetch")),
                               .delay = pipeline_delay(in.job),
                               .predicts = has_late_gradients(in.job),
                               .passes = passes_of(in),
                               .wire = in.job.wire(),
                               .slab_bytes = slab_bytes(in.job.resources.memory),
                               .epochs = in.job.training.epochs};
  Model whole = job_model(in.job,
                          {.columns = graph.columns->share.whole,
                           .form = graph.columns->sparse ? FeatureForm::kSparse : FeatureForm::kDense},
                          in.model.layers.back()->spec().out);
  return std::make_unique<PushPull>(in.ctx, in.comm, in.model, std::move(whole), in.parameters, graph,
                                    chosen);
}

}  // namespace

Strategy p3_row() {
  return {.kind = "p3",
          .make = make_p3,
          .holds = Holds::kBatches,
          .share_data = share_p3_data,
          .share_model = share_p3_model};
}

}  // namespace atl
