// The table of strategies. A new one is a folder here and a line in the table.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "job/strategies.h"
#include "model/decoder.h"
#include "model/model.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::vector<Strategy>& table() {
  static std::vector<Strategy> rows{graph_row(),     pipegcn_row(), cagnet_row(),   sancus_row(), bns_row(),
                                    minibatch_row(), gnnpipe_row(), granndis_row(), p3_row(),     dgs_row()};
  return rows;
}

}  // namespace

const Strategy& strategy_of(const Job& job) {
  const auto row = std::ranges::find(table(), job.strategy.row->kind, &Strategy::kind);
  ATOLL_CHECK(row != table().end(), "strategy {} passed validation and has no row", job.strategy.row->kind);
  return *row;
}

void add_strategy(Strategy row) {
  table().push_back(std::move(row));
}

FeatureShape feature_shape(const DatasetMeta& meta, FeatureForm form) {
  const double vertices = double(std::max<Index>(meta.vertices, 1));
  return {.columns = meta.features,
          .form = form,
          .nonzeros_per_row = double(std::max<Index>(meta.feature_nonzeros, 0)) / vertices,
          .arcs_per_vertex = double(meta.arcs) / vertices};
}

Model job_model(const Job& job, const FeatureShape& features, Index classes) {
  const Strategy& row = strategy_of(job);
  const bool products = row.sends_products != nullptr && row.sends_products(job);
  const DropsOut drops_out = row.drops_out == nullptr ? DropsOut::kMakers : row.drops_out(job);
  const bool links = job.task == Task::kLinkPrediction;
  const Index outputs = links ? Index(job.model.hidden) : classes;
  Model model =
      make_model(job.model, job.training,
                 {features.columns, outputs, features.packed(), drops_out, products, features.whole_columns});
  model.needs.self_loops = self_loops_of(job);
  if (links) model.decoder = decoder_parameters(job.links, outputs);
  model.data.bits = features.form == FeatureForm::kBits;
  if (features.form == FeatureForm::kSparse) model.data.nonzeros_per_row = features.nonzeros_per_row;
  model.data.arcs_per_vertex = features.arcs_per_vertex;
  return model;
}

DataShare data_share_of(const Job& job, Rank rank, const PartRanks& ranks) {
  DataShare share{ranks};
  if (const auto change = strategy_of(job).share_data; change != nullptr) change(job, rank, share);
  return share;
}

ModelShare model_share_of(const Job& job, const Model& model, Rank rank) {
  ModelShare share{{0, int(model.layers.size())}, [](int, const ParameterSpec&) { return Placement(); }};
  if (const auto change = strategy_of(job).share_model; change != nullptr) change(job, model, rank, share);
  return share;
}

std::optional<ColumnShare> columns_of(const Job& job, Rank rank, Index features) {
  std::vector<Rank> group = data_share_of(job, rank).columns;
  if (group.empty()) return std::nullopt;
  if (Index(group.size()) > features)
    fail(
        "{}: features are cut into {} pieces, and there are {} of them: use fewer ranks or servers, or more copies",
        job.strategy.row->division(job).pieces_field, group.size(), features);
  return column_share(features, std::move(group), rank);
}

FeatureShape features_on(const Job& job, Rank rank, const FeatureShape& whole) {
  FeatureShape here = whole;
  if (const auto share = columns_of(job, rank, whole.columns); share && share->is_split())
    here.columns = share->count(), here.whole_columns = share->whole,
    here.nonzeros_per_row *= double(share->count()) / double(share->whole);
  return here;
}

std::unique_ptr<Schedule> make_schedule(const ScheduleInput& input) {
  input.ctx.values = input.model.values;
  const Strategy& row = strategy_of(input.job);
  if (row.make != nullptr) return row.make(input);
  const PartView* const view = input.holding.part().view;
  ATOLL_CHECK(view != nullptr, "strategy {} makes no schedule, and its part has no view", row.kind);
  return view->schedule(input);
}

}  // namespace atl
