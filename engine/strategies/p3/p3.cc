// Strategy `p3`: features by columns, the first layer computed in each for everybody's batch, the others data
// parallel.
#include "strategies/p3/info.h"

#include "job/strategies/batch_options.h"
#include "strategies/p3/push_pull.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

ColumnShare columns(const Job& job, Rank rank, Index features) {
  const ColumnGrid grid = column_grid(job);
  if (Index(grid.pieces()) > features)
    fail(
        "strategy.p3.columns: features are cut into {} pieces, and there are {} of them: use fewer ranks or servers, or more copies",
        grid.pieces(), features);
  return column_share(features, grid.group_of(rank), rank);
}

/// Rows of the first layer's weights are with their columns; the same on all ranks that have these.
ParameterPlaces p3_places(const Job& job, const Model& model, Rank rank) {
  return [&job, rank, grid = column_grid(job), split = SplitLayers(model).whole](
             int layer, const ParameterSpec& spec) -> Placement {
    if (grid.pieces() == 1 || layer != split || spec.input_blocks == 0) return {};
    const ColumnShare share = columns(job, rank, spec.rows / spec.input_blocks);
    return {rows_of_input(spec, share.first(), share.count()), grid.same_piece(rank)};
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
          .place = p3_places,
          .columns = columns,
          .in_flight = [](const Job& job) { return pipeline_delay(job) + 1; }};
}

}  // namespace atl
