#include "plan/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "comm/all_reduce.h"
#include "job/strategies.h"
#include "partition/local_graph.h"
#include "plan/dry_run.h"
#include "strategies/schedule/rows.h"
#include "strategies/schedule/strategy.h"
#include "telemetry/link_metrics.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Rows that travel in an epoch, by pair of parts.
std::vector<CutRows> cut_of(const Job& job, const PreparedGraph& prepared) {
  std::vector<CutRows> cut = cut_rows(prepared, job.training.setting == Setting::kInductive);
  const StrategyInfo& strategy = *job.strategy.row;
  if (strategy.boundary_rows_sent == nullptr) return cut;
  for (CutRows& between : cut) between.rows = strategy.boundary_rows_sent(job.strategy.options, between.rows);
  return cut;
}

void add(TrafficShape::RowBytes& all, const TrafficShape::RowBytes& more) {
  all.to_owner += more.to_owner;
  all.from_owner += more.from_owner;
}

/// Sets the bytes per row of partial results that are merged where several ranks aggregate for one vertex.
/// These are sums, or softmaxes with their maxima and sums, which travel at full precision
/// (model/aggregate.h). A fixed input takes no gradient, but the gradient of the layer's weights may need the
/// gradient of the merged rows.
void set_merged(const Job& job, const Model& model, TrafficShape& shape) {
  for (int l = model.constant_prefix(); l < int(model.layers.size()); ++l) {
    const LayerSpec& layer = model.spec(l);
    if (!layer.gathers) continue;
    const LayerCost& cost = layer.cost;
    const Index heads = cost.softmax.heads, scores = cost.softmax.has_scores ? heads : 0;
    const Index bytes = heads > 0 ? Index(sizeof(Real)) : Index(shape.bytes_per_value);
    const TrafficShape::RowBytes forward{(cost.gather_columns + 2 * heads) * bytes, scores * bytes};
    add(shape.forward, forward);
    if (l > 0 || layer.rows_in_backward)
      add(shape.backward, {scores * bytes, (cost.gather_columns + 3 * heads + scores) * bytes});
    const bool repeated = job.training.recompute == Recompute::kLayer && l + 1 < int(model.layers.size());
    if (repeated) add(shape.repeated, forward);
  }
}

}  // namespace

TrafficShape traffic_shape(const Job& job, const Dataset& dataset, const Model& model,
                           const PreparedGraph& prepared) {
  TrafficShape shape;
  const Strategy& strategy = strategy_of(job);
  const bool part_a_rank = strategy.holds == Holds::kPart && job.strategy.row->division(job).parts == 0;
  shape.ranks = part_a_rank ? prepared.parts() : job.placement.ranks;
  shape.parts = prepared.parts();
  const bool inductive = job.training.setting == Setting::kInductive;
  const VertexMarks marks = inductive ? training_marks(dataset, job) : VertexMarks();
  shape.owned_by_rank = rows_by_rank(prepared, {.induced_on = marks});
  shape.vertices = std::accumulate(shape.owned_by_rank.begin(), shape.owned_by_rank.end(), Index(0));
  for (const CutRows& between : cut_of(job, prepared)) shape.halo_rows += between.rows;
  for (int l = std::max(1, model.constant_prefix()); l < int(model.layers.size()); ++l) {
    const LayerSpec& layer = model.spec(l);
    if (!layer.gathers) continue;
    shape.widths.push_back(layer.gathered_columns());
    const bool repeated = job.training.recompute == Recompute::kLayer && l + 1 < int(model.layers.size());
    if (repeated) shape.repeated_widths.push_back(layer.gathered_columns());
  }
  for (const auto& layer : model.parameters()) {
    Index with_the_layer = 0;
    for (const ParameterSpec& p : layer) {
      if (!p.trainable) continue;
      if (p.parts == 1) with_the_layer += p.rows * p.cols;
      for (int part = 0; p.parts > 1 && part < p.parts; ++part)
        shape.parameters.push_back(p.part_rows(part) * p.cols);
    }
    shape.parameters.push_back(with_the_layer);
  }
  shape.bytes_per_weight = sizeof(Real);
  shape.bytes_per_value = job.wire() == Precision::kBFloat16 ? 2 : sizeof(Real);
  set_merged(job, model, shape);
  if (strategy.describe != nullptr)
    strategy.describe(job, model, prepared, {marks, loss_marks(dataset, job)}, shape);
  return shape;
}

std::vector<PairBytes> part_flows(const Job& job, const Dataset& dataset, const PreparedGraph& prepared) {
  const DatasetMeta& meta = dataset.meta();
  const Model model = planned_model(job, feature_shape(job, meta), meta.classes);
  return job.strategy.row->flows(job.strategy.options, traffic_shape(job, dataset, model, prepared),
                                 cut_of(job, prepared));
}

// Bytes between a job's servers, in few enough numbers for a pod's log and a ConfigMap. Many servers that all
// talk to each other have too many pairs. Then only the pairs that stand out are listed, and each other pair
// counts with the mean of the unlisted ones.

namespace {

std::vector<int> server_of_rank(const Layout& layout) {
  std::vector<int> server;
  for (std::size_t s = 0; s < layout.groups.size(); ++s)
    for (const Rank rank : layout.groups[s]) {
      server.resize(std::max(server.size(), std::size_t(rank) + 1));
      server[std::size_t(rank)] = int(s);
    }
  return server;
}

/// A symmetric matrix's upper half, by rows.
class Pairs {
 public:
  explicit Pairs(std::size_t servers) : servers_(servers), bytes_(servers * (servers - 1) / 2, 0.0) {}

  double& at(std::size_t a, std::size_t b) {
    if (a > b) std::swap(a, b);
    return bytes_[a * (2 * servers_ - a - 1) / 2 + (b - a - 1)];
  }
  const std::vector<double>& bytes() const { return bytes_; }

 private:
  const std::size_t servers_;
  std::vector<double> bytes_;
};

/// A range of the sorted amounts whose pairs aren't listed: of all ranges that leave out only `but` amounts,
/// the one with the smallest difference between its ends. It is widened to all amounts that equal one of its
/// ends.
struct Window {
  std::size_t first = 0, last = 0;
};
Window most_alike(const std::vector<double>& sorted, std::size_t but) {
  const std::size_t size = sorted.size() - but;
  Window window{0, size};
  for (std::size_t first = 1; first <= but; ++first)
    if (sorted[first + size - 1] - sorted[first] < sorted[window.last - 1] - sorted[window.first])
      window = {first, first + size};
  while (window.first > 0 && sorted[window.first - 1] == sorted[window.first]) --window.first;
  while (window.last < sorted.size() && sorted[window.last] == sorted[window.last - 1]) ++window.last;
  return window;
}

}  // namespace

ServerFlows server_flows(const Layout& layout, std::span<const PairBytes> between_ranks, std::size_t most) {
  const std::size_t servers = layout.groups.size();
  ServerFlows flows;
  if (servers < 2) return flows;
  const std::vector<int> server = server_of_rank(layout);
  Pairs pairs(servers);
  for (const PairBytes& flow : between_ranks) {
    const int from = server[std::size_t(flow.from)], to = server[std::size_t(flow.to)];
    if (from != to) pairs.at(std::size_t(from), std::size_t(to)) += flow.bytes;
  }
  double least = 0, greatest = 0;  // bounds of the unlisted pairs' bytes, inclusive
  const auto talking = std::size_t(std::ranges::count_if(pairs.bytes(), [](double b) { return b > 0; }));
  if (talking > most) {
    std::vector<double> sorted = pairs.bytes();
    std::ranges::sort(sorted);
    const Window window = most_alike(sorted, most);
    least = sorted[window.first];
    greatest = sorted[window.last - 1];
    const double sum = std::accumulate(sorted.begin() + std::ptrdiff_t(window.first),
                                       sorted.begin() + std::ptrdiff_t(window.last), 0.0);
    flows.unlisted = std::round(sum / double(window.last - window.first));
  }
  for (std::size_t a = 0; a < servers; ++a)
    for (std::size_t b = a + 1; b < servers; ++b)
      if (const double bytes = pairs.at(a, b); bytes < least || bytes > greatest)
        flows.listed.push_back({int(layout.groups[a].front()), int(layout.groups[b].front()), bytes});
  return flows;
}

namespace {

constexpr Index kWide = 8;  // bytes of a count, a double, a message's size, or a score with its label
constexpr Index kOfAll =
    7;  // sums for every metric: of each of 3 splits the hits and rows, and the validation loss
constexpr Index kOfAClass = 3;       // hits, predicted, actual
constexpr Index kAreas = 2 * kWide;  // the sum of areas and their number

/// Bytes that the rank sends for areas under the curve. Rank 0 gathers the scores of one class after the
/// other, and sends the areas once it has those of all classes.
std::int64_t area_bytes(int ranks, Rank rank, Index classes, Index scored) {
  const std::int64_t others = ranks - 1;
  const std::int64_t gathered = others * kWide + (rank == 0 ? 0 : scored * kWide);
  return classes * gathered + (rank == 0 ? others * kAreas : 0);
}

}  // namespace

ScoredRows split_counts(const Job& job, const Dataset& dataset, std::span<const VertexId> owned) {
  ScoredRows counts{};
  const View<const std::uint8_t> split = dataset.split(job.dataset.split);
  for (const VertexId v : owned) {
    const std::uint8_t of = split.at(v, job.dataset.split_column);
    if (of != std::uint8_t(Split::kNone)) ++counts[std::size_t(of) - std::size_t(Split::kTrain)];
  }
  return counts;
}

std::int64_t metric_bytes(const Job& job, const DatasetMeta& meta, int ranks, Rank rank,
                          const ScoredRows& scored) {
  if (ranks == 1) return 0;
  std::int64_t bytes = all_reduce_bytes(ranks, rank, kOfAll, kWide);
  for (const Index of_split : scored) {
    if (job.training.metric == Metric::kRocAuc)
      bytes += area_bytes(ranks, rank, meta.multi_label ? meta.classes : 1, of_split);
    else if (job.training.metric == Metric::kF1Macro)
      bytes += all_reduce_bytes(ranks, rank, kOfAClass * meta.classes, kWide);
  }
  return bytes;
}

std::int64_t pair_metric_bytes(const Job& job, int ranks, Rank rank, const PairSizes& pairs) {
  if (ranks == 1) return 0;
  const std::int64_t others = ranks - 1;
  std::int64_t bytes = others * kWide * pairs.scored_slabs +
                       std::int64_t(pairs.scoring_rows_requested * sizeof(VertexId)) +
                       std::int64_t(pairs.scoring_rows_sent * double(job.model.hidden) * sizeof(Real));
  // Counts of the scores of edges and of negative pairs, and the sum of the loss.
  bytes += pairs.scored_sets * (2 * others * kWide + all_reduce_bytes(ranks, rank, 1, kWide));
  return bytes + (rank == 0 ? pairs.scored_sets * others * std::int64_t(sizeof(LinkMetrics))
                            : pairs.measured * std::int64_t(sizeof(Real)));
}

}  // namespace atl
