// Strategy `gnnpipe`: layers are divided into stages, and chunks of the graph are pipelined through them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "model/layer_work.h"
#include "sampler/draw_positions.h"
#include "strategies/gnnpipe/chunk_pass.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/gnnpipe/pipeline.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<PartView> gnnpipe_view(const ViewInput& in) {
  return std::make_unique<ChunkView>(in.part(), in.options.attention);
}

void share_gnnpipe_data(const Job& job, Rank rank, DataShare& share) {
  const PipelineGrid grid = pipeline_grid(job);
  const int stage = grid.stage_of(rank);
  share.ranks = PartRanks::of_group(grid.rank_of(stage, 0));
  share.features = stage == 0, share.answers = stage + 1 == grid.stages;
}

/// All ranks of a stage hold its layers' parameters. Layers are divided into stages once and not for each
/// parameter, because deep models have thousands.
void share_gnnpipe_model(const Job& job, const Model& model, Rank rank, ModelShare& share) {
  const PipelineGrid grid = pipeline_grid(job);
  const std::vector<LayerRange> stages = stage_ranges(job, model);
  share.layers = stages[std::size_t(grid.stage_of(rank))];
  if (grid.stages == 1) return;
  share.places = [grid, rank, all = stages](int layer, const ParameterSpec&) {
    const auto holder =
        std::ranges::find_if(all, [&](const LayerRange& each) { return each.contains(layer); });
    const int stage = int(holder - all.begin());
    Placement placement;
    if (grid.stage_of(rank) != stage) placement.rows.clear();
    for (int part = 0; part < grid.parts; ++part) placement.replicas.push_back(grid.rank_of(stage, part));
    return placement;
  };
}

/// Fills in how many columns each stage sends the next one: those of its rows, and of a tap.
void describe_gnnpipe(const Job& job, const Model& model, const PreparedGraph&, const GraphMarks&,
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
          .view = gnnpipe_view,
          .share_data = share_gnnpipe_data,
          .share_model = share_gnnpipe_model,
          .describe = describe_gnnpipe};
}

std::unique_ptr<Schedule> ChunkView::schedule(const ScheduleInput& in) const {
  const Options& given = in.job.strategy.options;
  const PipelineOptions options{.seed = in.job.training.seed,
                                .passes = passes_of(in),
                                .grid = pipeline_grid(in.job),
                                .layers = model_share_of(in.job, in.model, in.comm.rank()).layers,
                                .shuffle = given.flag("shuffle"),
                                .historical_gradients = given.flag("historicalGradients"),
                                .scale_gradient = given.flag("scaleHistoricalGradient"),
                                .refresh = given.integer("historyRefresh"),
                                .refresh_after_first = given.flag("refreshAfterFirstEpoch"),
                                .wire = in.job.wire()};
  return std::make_unique<Pipeline>(in.ctx, in.comm, in.model, in.parameters, in.holding.part(), chunks_,
                                    in.all_vertices, options);
}

namespace {

/// Typical rates of a server's processor; only their ratios matter. They are constants, so that all ranks,
/// plans and resumed runs divide alike.
constexpr MachineRates kRates{.triad_bytes = 40e9, .gather_bytes = 20e9, .product_flops = 120e9};

/// For each layer, the seconds that a vertex costs in an epoch.
std::vector<double> costs_of(const Model& model) {
  std::vector<double> costs;
  const int once = model.constant_prefix();
  for (int l = 0; l < int(model.layers.size()); ++l) {
    const LayerPass pass(model, l, {1, 0, model.data.arcs_per_vertex}, l == once);
    costs.push_back(l < once ? 0 : seconds_of(pass.forward(), kRates) + seconds_of(pass.backward(), kRates));
  }
  return costs;
}

/// The stages as given: each begins with its first convolution. Layers before the very first convolution
/// belong to the first stage, and layers after a convolution to its stage.
std::vector<LayerRange> given_ranges(const Model& model, const std::vector<int>& convolutions) {
  std::vector<int> begins;  // where each convolution begins
  for (int l = 0; l < int(model.layers.size()); ++l)
    if (model.spec(l).gathers) begins.push_back(l);
  std::vector<LayerRange> ranges;
  std::size_t before = 0;
  for (const int count : convolutions) {
    if (!ranges.empty()) ranges.back().end = begins[before];
    ranges.push_back({ranges.empty() ? 0 : begins[before], int(model.layers.size())});
    before += std::size_t(count);
  }
  ATOLL_CHECK(before == begins.size(), "stages of {} convolutions passed validation, and there are {}",
              before, begins.size());
  return ranges;
}

/// The tap that a layer from `first` on reads and a layer before `first` makes.
int tap_across(const Model& model, int first) {
  for (std::size_t l = std::size_t(first); l < model.layers.size(); ++l)
    if (const int tap = model.layers[l]->spec().tap; tap >= 0 && tap < first) return tap;
  return -1;
}

/// best[s][e] is the lowest possible cost of the slowest stage, if s stages have the layers before e.
std::vector<LayerRange> balanced_ranges(const Model& model, int stages) {
  const int layers = int(model.layers.size()), once = model.constant_prefix();
  const std::vector<double> costs = costs_of(model);
  std::vector<double> before(std::size_t(layers) + 1, 0);
  std::partial_sum(costs.begin(), costs.end(), before.begin() + 1);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto ends = std::size_t(layers) + 1;
  std::vector<std::vector<double>> best(std::size_t(stages) + 1, std::vector<double>(ends, kNever));
  std::vector<std::vector<int>> begin(std::size_t(stages) + 1, std::vector<int>(ends, 0));
  best[0][std::size_t(0)] = 0;
  for (std::size_t s = 1; s < best.size(); ++s)
    for (int end = once + int(s); end <= layers; ++end)
      for (int first = s == 1 ? 0 : once + int(s) - 1; first < (s == 1 ? 1 : end); ++first) {
        const double cost =
            std::max(best[s - 1][std::size_t(first)], before[std::size_t(end)] - before[std::size_t(first)]);
        if (cost >= best[s][std::size_t(end)]) continue;
        best[s][std::size_t(end)] = cost;
        begin[s][std::size_t(end)] = first;
      }
  std::vector<LayerRange> ranges(static_cast<std::size_t>(stages));
  int end = layers;
  for (auto s = std::size_t(stages); s > 0; --s) {
    ranges[s - 1] = {begin[s][std::size_t(end)], end};
    end = ranges[s - 1].first;
  }
  return ranges;
}

}  // namespace

std::vector<LayerRange> stage_ranges(const Job& job, const Model& model) {
  const int stages = pipeline_grid(job).stages, once = model.constant_prefix();
  const int most = std::max(1, int(model.layers.size()) - once);
  if (stages > most)
    fail("strategy.gnnpipe.stages: {} stages for {} layers that are computed in each epoch (use at most {})",
         stages, int(model.layers.size()) - once, most);
  const std::vector<int> given = pipeline_layers(job);
  // On another number of ranks than the job was written for, there may be another number of stages.
  return int(given.size()) == stages ? given_ranges(model, given) : balanced_ranges(model, stages);
}

int whole_layers(const Model& model, bool packed_features) {
  const int once = model.constant_prefix();
  if (once > 0) return once;
  return model.layers.front()->spec().gathers || packed_features ? 1 : 0;
}

/// K chunks take (1 + (S − 1)/K) m to pass S stages, of which the slowest takes m for all chunks. A whole
/// layer of cost w runs before the chunks, adds (1 − 1/K) w, and isn't part of the first stage's chunks.
double stall_of_whole_layer(const Job& job, const Model& model, bool packed_features) {
  const bool is_free = model.constant_prefix() > 0 || whole_layers(model, packed_features) == 0;
  const std::vector<LayerRange> stages = stage_ranges(job, model);
  if (is_free || stages.size() == 1) return 1;
  const std::vector<double> costs = costs_of(model);
  std::vector<double> of_stage;
  for (const LayerRange& stage : stages)
    of_stage.push_back(std::accumulate(costs.begin() + stage.first, costs.begin() + stage.end, 0.0));
  const double chunks = pipeline_chunks(job), stretch = 1 + double(stages.size() - 1) / chunks;
  const double cut = stretch * std::ranges::max(of_stage);
  of_stage.front() -= costs.front();
  return (costs.front() * (1 - 1 / chunks) + stretch * std::ranges::max(of_stage)) / cut;
}

int tap_into(const Model& model, const LayerRange& stage) {
  return tap_across(model, stage.first);
}

int tap_out_of(const Model& model, const LayerRange& stage) {
  return tap_across(model, stage.end);
}

void put_chunk_order(std::span<int> order, bool shuffle, std::uint64_t seed, std::int64_t epoch) {
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return;
  const KeyedOrder shuffled(order.size(), Draws(seed, Purpose::kChunks, std::uint64_t(epoch)).key());
  for (std::size_t place = 0; place < order.size(); ++place) order[place] = int(shuffled.at(place));
}

}  // namespace atl
