// Strategy `gnnpipe`: layers are divided into stages, and chunks of the graph flow through them (Chen et al.
// 2023, "GNNPipe").
#include "strategies/gnnpipe/info.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "job/field.h"
#include "job/layout.h"
#include "job/models.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

/// The paper has 4 per rank. Here a stage's ranks divide each chunk among themselves. With 4 chunks per rank,
/// products would be smaller and waits shorter. Whether that gains time wasn't measured.
constexpr int kChunksPerStage = 4;

const char* const kGnnpipePaper = "Chen et al. 2023";

std::vector<Field> dividing_options() {
  std::vector<Field> options;
  options.push_back(strategy_option(
      "gnnpipe", "stages", std::int64_t{0},
      {.description = "stages that the layers are divided over; each has placement.ranks / stages ranks, "
                      "which have a part of the graph each",
       .unit = "stages",
       .minimum = 0,
       .maximum = kMostRanks,
       .default_text =
           "a stage for each number in layers, or the most that divide placement.ranks, have a layer each, and "
           "have all their ranks on one server (placement.ranksPerServer)"}));
  options.push_back(strategy_option(
      "gnnpipe", "layers", std::vector<std::int64_t>{},
      {.description =
           "convolutions of each stage, the first stage's first, model.layers in all; layers before the first "
           "convolution go with it, those behind the last with that",
       .minimum = 1,
       .maximum = 4096,
       .default_text = "so that the slowest stage has as little work as possible",
       .most_items = 1000}));
  options.push_back(
      strategy_option("gnnpipe", "chunks", std::int64_t{0},
                      {.description = "chunks that the graph is cut into, at least as many as stages",
                       .unit = "chunks",
                       .minimum = 0,
                       .maximum = 65536,
                       .source = kGnnpipePaper,
                       .default_text = "4 for each stage"}));
  options.push_back(strategy_option(
      "gnnpipe", "memoryBudget", std::int64_t{0},
      {.type = FieldType::kBytes,
       .description =
           "what a rank's planned peak must not pass: training.recompute and chunks are chosen for it where they "
           "aren't given, by atoll run and atoll plan; 0: no limit",
       .unit = "bytes",
       .minimum = 0,
       .may_change = true}));
  return options;
}

std::vector<Field> history_options() {
  std::vector<Field> options;
  options.push_back(strategy_option(
      "gnnpipe", "shuffle", true,
      {.description = "draw the order of the chunks anew in each epoch", .source = kGnnpipePaper}));
  options.push_back(strategy_option(
      "gnnpipe", "historicalGradients", false,
      {.description =
           "send gradients to neighbours whose rows are of an earlier epoch, too: they come in the next epoch, beside its "
           "own, so that with shuffle an arc may give none in one epoch and two in the next; false: these neighbours "
           "get none",
       .source = kGnnpipePaper}));
  options.push_back(strategy_option(
      "gnnpipe", "historyRefresh", std::int64_t{23},
      {.description = "α: rows of chunks that come later are those of epoch α⌊(t − 1)/α⌋ in epoch t",
       .unit = "epochs",
       .minimum = 1,
       .maximum = 1e6,
       .source = kGnnpipePaper}));
  options.push_back(strategy_option(
      "gnnpipe", "refreshAfterFirstEpoch", true,
      {.description = "keep epoch 1's rows as well, so that only epoch 1 reads rows of zeros"}));
  options.push_back(strategy_option(
      "gnnpipe", "scaleHistoricalGradient", false,
      {.description = "double the gradients of an aggregation's sources, as the authors' code "
                      "does, to make up for the sources that get none"}));
  return options;
}

/// A stage's ranks exchange boundary rows in every layer. So they share a server, alone or with whole other
/// stages (pipeline_rules()).
Layout gnnpipe_layout(const Job& job) {
  const PipelineGrid grid = pipeline_grid(job);
  Layout layout = consecutive_ranks(job);
  layout.ranks_are_alike = false;
  if (job.placement.ranks_per_server == 0) {
    layout.groups.clear();
    for (int stage = 0; stage < grid.stages; ++stage) {
      auto& group = layout.groups.emplace_back();
      for (int part = 0; part < grid.parts; ++part) group.push_back(grid.rank_of(stage, part));
    }
  }
  for (const std::vector<Rank>& group : layout.groups) {
    const int first = grid.stage_of(group.front()), last = grid.stage_of(group.back());
    layout.holds.push_back(first == last ? fmt::format("stage {}", first)
                                         : fmt::format("stages {}–{}", first, last));
  }
  return layout;
}

/// Rows and taps go to the next stage once, and gradients back. Within a stage, traffic is that of `graph`.
EpochTraffic gnnpipe_traffic(const Options& given, const TrafficShape& shape) {
  TrafficShape inside = fetched_once(shape);
  inside.ranks = shape.parts;
  EpochTraffic traffic = boundary_traffic(given, inside);
  for (const Index columns : shape.stage_columns)
    traffic.stage += shape.vertices * columns * shape.bytes_per_value;
  traffic.stage_gradient = traffic.stage;
  return traffic;
}

/// Traffic within one stage: its ranks' halo rows, and its share of the gradients.
void add_inside(const TrafficShape& shape, int stage, const PipelineGrid& grid,
                const std::vector<CutRows>& cut, std::vector<PairBytes>& flows) {
  TrafficShape inside = shape;
  inside.ranks = grid.parts;
  inside.widths.clear(), inside.repeated_widths.clear();
  for (std::size_t l = 0; l < shape.widths.size(); ++l)
    if (shape.width_stage[l] == stage) inside.widths.push_back(shape.widths[l]);
  for (Index& each : inside.parameters) each /= grid.stages;
  for (PairBytes flow : boundary_flows({}, inside, cut)) {
    flow.from = grid.rank_of(stage, flow.from), flow.to = grid.rank_of(stage, flow.to);
    flows.push_back(flow);
  }
}

std::vector<PairBytes> gnnpipe_flows(const Options&, const TrafficShape& shape,
                                     const std::vector<CutRows>& cut) {
  const PipelineGrid grid{int(shape.stage_columns.size()) + 1, shape.parts};
  std::vector<PairBytes> flows;
  for (int stage = 0; stage < grid.stages; ++stage) {
    add_inside(shape, stage, grid, cut, flows);
    for (int part = 0; part < grid.parts && stage + 1 < grid.stages; ++part) {
      const double bytes = double(shape.owned_by_rank[std::size_t(part)]) *
                           double(shape.stage_columns[std::size_t(stage)]) * shape.bytes_per_value;
      const Rank here = grid.rank_of(stage, part), next = grid.rank_of(stage + 1, part);
      flows.push_back({here, next, bytes, bytes});
      flows.push_back({next, here, bytes});
    }
  }
  return flows;
}

/// The variant worth comparing has as many stages as servers.
std::vector<std::string> gnnpipe_variants(const Job& job) {
  const int together = job.placement.ranks_per_server;
  const int servers = together > 1 ? job.placement.ranks / together : 1;
  if (servers < 2 || servers > most_stages(job) || servers == pipeline_grid(job).stages) return {};
  return {fmt::format("stages={}", servers)};
}

}  // namespace

/// Some models have an option that counts the layers that read neighbours. These layers learn nothing and are
/// computed once, so such a model has one stage.
int most_stages(const Job& job) {
  const ModelInfo* model = find_model(job.model.kind);
  const bool once = model == nullptr || !model->layers_option.empty();
  return once ? 1 : std::max(1, job.model.layers);
}

PipelineGrid pipeline_grid(const Job& job) {
  const int ranks = job.placement.ranks, layers = most_stages(job);
  int given = int(job.strategy.options.integer("stages"));
  if (given == 0) given = int(pipeline_layers(job).size());
  // The job may run on another number of ranks than it was written for, as in prediction. Then the number of
  // stages is the largest one that divides both the given stages and the ranks.
  if (given > 0) return {std::gcd(given, ranks), ranks / std::gcd(given, ranks)};
  const int most = std::min(ranks, layers);
  for (int stages = most; stages > 1; --stages)
    if (ranks % stages == 0 && stages_share_servers(job.placement, stages)) return {stages, ranks / stages};
  return {1, ranks};
}

bool stages_share_servers(const PlacementSpec& placement, int stages) {
  const int together = placement.ranks_per_server;
  return together == 0 || together % (placement.ranks / stages) == 0;
}

std::vector<int> pipeline_layers(const Job& job) {
  const std::vector<std::int64_t>& given = job.strategy.options.integers("layers");
  return {given.begin(), given.end()};
}

int pipeline_chunks(const Job& job) {
  const auto given = int(job.strategy.options.integer("chunks"));
  return given > 0 ? given : kChunksPerStage * pipeline_grid(job).stages;
}

StrategyInfo gnnpipe_strategy() {
  std::vector<Field> options = dividing_options();
  for (Field& each : history_options()) options.push_back(std::move(each));
  return {.kind = "gnnpipe",
          .description = "layers divided over stages, graph chunks pipelined through them",
          .source = kGnnpipePaper,
          .options = std::move(options),
          .layout = gnnpipe_layout,
          .divide =
              [](const Job& job) {
                return JobDivision{.parts = pipeline_grid(job).parts,
                                   .slices = pipeline_chunks(job),
                                   .slices_field = "strategy.gnnpipe.chunks"};
              },
          .traffic = gnnpipe_traffic,
          .flows = gnnpipe_flows,
          .memory_budget = pipeline_budget,
          .variants = gnnpipe_variants,
          .no_pairs = "a chunk's loss is taken before the other ends of its pairs are computed",
          .rules = pipeline_rules()};
}

// How a pipeline needs less memory. Recomputing costs a third more work and learns the same, so it comes
// first. More chunks read more stale rows, and their products are smaller.

namespace {

// The most doublings of the number of chunks. Memory that remains then belongs to all chunks together.
constexpr int kDoublings = 3;

MemoryBudget::Way way_of(const Job& job, Recompute recompute, int chunks) {
  MemoryBudget::Way way{job, fmt::format("training.recompute: {} and strategy.gnnpipe.chunks: {}",
                                         recompute == Recompute::kLayer ? "layer" : "none", chunks)};
  way.job.training.recompute = recompute;
  way.job.strategy.options.set("chunks", std::int64_t(chunks));
  return way;
}

}  // namespace

MemoryBudget pipeline_budget(const Job& job, const Given& given) {
  MemoryBudget budget{"strategy.gnnpipe.memoryBudget", job.strategy.options.integer("memoryBudget")};
  const int chunks = pipeline_chunks(job);
  Recompute recompute = job.training.recompute;
  budget.ways.push_back(way_of(job, recompute, chunks));
  if (recompute == Recompute::kNone && !given.contains("training.recompute"))
    budget.ways.push_back(way_of(job, recompute = Recompute::kLayer, chunks));
  const bool cuts = job.strategy.options.integer("chunks") == 0;
  for (int d = 1; cuts && d <= kDoublings; ++d) budget.ways.push_back(way_of(job, recompute, chunks << d));
  return budget;
}

}  // namespace atl
