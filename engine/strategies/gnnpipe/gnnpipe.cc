// Strategy `gnnpipe`: layers divided over stages, chunks of the graph pipelined through them.
#include "strategies/gnnpipe/info.h"

#include <algorithm>

#include "strategies/gnnpipe/pipeline.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

LayerRange layers(const Job& job, const Model& model, Rank rank) {
  return stage_ranges(job, model)[std::size_t(pipeline_grid(job).stage_of(rank))];
}

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  const Options& given = in.job.strategy.options;
  const PipelineOptions options{.seed = in.job.training.seed,
                                .passes = passes_of(in),
                                .grid = pipeline_grid(in.job),
                                .layers = layers(in.job, in.model, in.comm.rank()),
                                .shuffle = given.flag("shuffle"),
                                .late_gradients = given.flag("historicalGradients"),
                                .scale_gradient = given.flag("scaleHistoricalGradient"),
                                .refresh = given.integer("historyRefresh"),
                                .refresh_after_first = given.flag("refreshAfterFirstEpoch"),
                                .wire = in.job.wire()};
  return std::make_unique<Pipeline>(in.ctx, in.comm, in.model, in.parameters, in.holding.part(),
                                    in.all_vertices, options);
}

/// A stage's ranks have its layers' parameters.
Placement place(const Job& job, const Model& model, Rank rank, int layer, const ParameterSpec&) {
  const PipelineGrid grid = pipeline_grid(job);
  if (grid.stages == 1) return {};
  const std::vector<LayerRange> all = stage_ranges(job, model);
  const auto holder = std::ranges::find_if(all, [&](const LayerRange& each) { return each.contains(layer); });
  const int stage = int(holder - all.begin());
  Placement placement;
  if (grid.stage_of(rank) != stage) placement.rows.clear();
  for (int part = 0; part < grid.parts; ++part) placement.replicas.push_back(grid.rank_of(stage, part));
  return placement;
}

PartShare share(const Job& job, Rank rank) {
  const PipelineGrid grid = pipeline_grid(job);
  const int stage = grid.stage_of(rank);
  return {PartRanks::of_group(grid.rank_of(stage, 0)), stage == 0, stage + 1 == grid.stages};
}

/// What crosses between stages: rows, and a tap.
void describe(const Job& job, const Model& model, const PreparedGraph&, const GraphMarks&,
              TrafficShape& shape) {
  const std::vector<LayerRange> stages = stage_ranges(job, model);
  for (std::size_t s = 0; s + 1 < stages.size(); ++s) {
    const int tap = tap_out_of(model, stages[s]);
    shape.stage_columns.push_back(model.spec(stages[s].end).in + (tap < 0 ? 0 : model.spec(tap).out));
  }
  for (int l = std::max(1, model.constant_prefix()); l < int(model.layers.size()); ++l) {
    if (!model.spec(l).gathers) continue;
    const auto holder =
        std::ranges::find_if(stages, [&](const LayerRange& each) { return each.contains(l); });
    shape.width_stage.push_back(int(holder - stages.begin()));
  }
}

}  // namespace

Strategy gnnpipe_row() {
  return {.kind = "gnnpipe",
          .make = make,
          .place = place,
          .layers = layers,
          .share = share,
          .describe = describe};
}

}  // namespace atl
