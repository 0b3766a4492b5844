#include "plan/traffic.h"

#include <algorithm>
#include <numeric>

#include "job/strategies.h"
#include "partition/local_graph.h"
#include "plan/dry_run.h"
#include "strategies/schedule/rows.h"
#include "strategies/schedule/strategy.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Rows that travel in an epoch, by pair of parts.
std::vector<CutRows> cut_of(const Job& job, const PreparedGraph& prepared) {
  std::vector<CutRows> cut = cut_rows(prepared, job.training.setting == Setting::kInductive);
  const StrategyInfo& strategy = *find_strategy(job.strategy.kind);
  if (strategy.boundary_rows_sent == nullptr) return cut;
  for (CutRows& between : cut) between.rows = strategy.boundary_rows_sent(job.strategy.options, between.rows);
  return cut;
}

void add(TrafficShape::RowBytes& all, const TrafficShape::RowBytes& more) {
  all.to_owner += more.to_owner;
  all.from_owner += more.from_owner;
}

/// Widths of what is merged where several ranks aggregate for one vertex: sums, or softmaxes with their
/// maxima and sums, which travel whole (model/aggregate.h). A fixed input takes no gradient, but the gradient
/// of its weights may need that of the merged rows.
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
  const bool part_a_rank = strategy.holds == Holds::kPart && strategy.share == nullptr;
  shape.ranks = part_a_rank ? prepared.parts() : job.placement.ranks;
  shape.parts = prepared.parts();
  const bool inductive = job.training.setting == Setting::kInductive;
  const auto marks = inductive ? training_marks(dataset, job) : std::vector<std::uint8_t>();
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
  return find_strategy(job.strategy.kind)
      ->flows(job.strategy.options, traffic_shape(job, dataset, model, prepared), cut_of(job, prepared));
}

}  // namespace atl
